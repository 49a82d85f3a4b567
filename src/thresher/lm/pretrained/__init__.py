"""Exchange models with Hugging Face transformers: folders that `AutoModelForCausalLM` loads."""
