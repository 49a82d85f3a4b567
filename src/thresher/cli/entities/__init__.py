"""The commands about entities: find, entities, fit, eval, distill, kinds and export."""
