// The menus for the model and its selector; a menu with a single choice is hidden.

import { byId, element } from "./elements.js";

/** The models of the server and the choice among them. */
export class ModelMenus {
  models = [];
  #model = byId("model");
  #selector = byId("selector");

  constructor(onChange) {
    this.#model.addEventListener("change", () => {
      this.#fillSelectors();
      onChange();
    });
    this.#selector.addEventListener("change", onChange);
  }

  /** Offer models, and choose those of a saved state if there are such. */
  fill(models, { model, selector }) {
    this.models = models;
    fillMenu(this.#model, models.map(({ name }) => name), model);
    this.#fillSelectors(selector);
  }

  /** What is chosen, as a part of a request. */
  get chosen() {
    return { model: this.#model.value, selector: Number(this.#selector.value) };
  }

  /** What is chosen and not the default; null for the others. */
  get unusual() {
    const { model, selector } = this.chosen;
    return {
      model: model === this.models[0]?.name ? null : model,
      selector: selector === this.#info?.selector ? null : selector,
    };
  }

  /** The threshold of the chosen selector. */
  get threshold() {
    return this.#info?.thresholds[this.chosen.selector - 1] ?? 0.5;
  }

  get #info() {
    return this.models.find(({ name }) => name === this.#model.value);
  }

  #fillSelectors(chosen = this.#info.selector) {
    const numbers = this.#info.thresholds.map((_, number) => number + 1);
    fillMenu(this.#selector, numbers, chosen ?? this.#info.selector);
  }
}

function fillMenu(menu, choices, chosen) {
  menu.replaceChildren(...choices.map((each) => element("option", { value: each }, String(each))));
  menu.value = choices.includes(chosen) ? chosen : choices[0];
  menu.parentElement.hidden = choices.length < 2;
}
