// The dialogs that lie over the main screen: one at a time, each with its own drawing and keys.

import { TEXT } from "./console_text.js";
import { button, byId, render, state } from "./console_state.js";

const dialogs = {};

export let overlay = null; // the name of the open dialog

/**
 * Makes #overlay-<name> a dialog: render() draws it; begin() and end() frame it; confirm(), digit(0..9) and backspace()
 * answer the keyboard. All but render are optional.
 */
export function addDialog(name, dialog) {
  dialogs[name] = dialog;
  byId(`overlay-${name}`)
    .querySelector("header")
    .append(button(`close-${name}`, TEXT.close, closeOverlay));
}

export const openDialog = () => (overlay === null ? null : dialogs[overlay]);

export function openOverlay(name) {
  if (state === null) return;
  if (overlay !== null) closeOverlay();
  overlay = name;
  dialogs[name].begin?.();
  byId(`overlay-${name}`).hidden = false;
  byId(`overlay-${name}`).querySelector("[autofocus]")?.focus();
  byId("main").inert = true;
  render();
}

export function closeOverlay() {
  const name = overlay;
  if (name === null) return;
  overlay = null;
  byId(`overlay-${name}`).hidden = true;
  byId("main").inert = false;
  dialogs[name].end?.();
  render();
}

export async function closeAfter(doing) {
  if (await doing) closeOverlay();
}
