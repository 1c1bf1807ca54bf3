const CSS_TEXT = `
.perch-canvas { direction: ltr; }
.perch-canvas .canvas-container, .perch-canvas .canvas-container > canvas { border-radius: inherit; }
.perch-canvas canvas:focus-visible { outline: 2px solid light-dark(#0b57d0, #a8c7fa); outline-offset: 2px; }
.perch-studio { direction: ltr; position: relative; width: 100%; height: 100%; overflow: hidden; background: var(--perch-ground, light-dark(#e9ebf1, #16161a)); }
.perch-studio .canvas-container { position: absolute !important; inset: 0; }
.perch-layers { position: absolute; inset: 0; overflow: hidden; border-radius: inherit; }
.perch-layers > * { position: absolute; left: 0; top: 0; width: 100%; height: 100%; transform-origin: 0 0; border-radius: 0; will-change: transform; }
.perch-layers > div > canvas { position: absolute; }
.perch-veil { position: absolute; left: 0; top: 0; pointer-events: none; box-shadow: 0 0 0 200vmax color-mix(in srgb, var(--perch-ground, light-dark(#e9ebf1, #16161a)) 80%, transparent); }
.perch-over { position: absolute; inset: 0; width: 100%; height: 100%; outline-offset: -2px; }
.perch-over:focus-visible { outline: 2px solid light-dark(#0b57d0, #a8c7fa); }
canvas.perch-empty:not(:focus-visible) { opacity: 0; }
.perch-cross { position: absolute; width: 21px; height: 21px; margin: -10px 0 0 -10px; pointer-events: none;
  background: linear-gradient(#000, #000) 50%/1px 100% no-repeat, linear-gradient(#000, #000) 50%/100% 1px no-repeat; filter: drop-shadow(0 0 1px #fff); }
.perch-cross[hidden] { display: none; }
.perch-said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.perch-writing { position: absolute; min-width: 8em; margin: 0; padding: 0; border: 1px dashed currentColor; background: #ffffffcc; resize: both; field-sizing: content; transform-origin: 0 0; }
.perch-panel { display: inline-flex; flex-direction: column; align-items: flex-start; gap: 8px; max-width: 100%; font: 14px/1.4 system-ui, sans-serif; color: light-dark(#1b1b1f, #e4e2e6); }
.perch-panel > .perch-canvas { box-shadow: 0 0 0 1px light-dark(#c5c6d0, #45464f); border-radius: 8px; }
.perch-toolbar { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; padding: 4px; border-radius: 8px; font: 14px/1.4 system-ui, sans-serif;
  background: light-dark(#f3f3fa, #1f1f25); color: light-dark(#1b1b1f, #e4e2e6); }
.perch-toolbar button { min-width: 36px; min-height: 36px; display: inline-grid; place-items: center; padding: 0 8px; border: 0; border-radius: 6px;
  background: none; color: inherit; font: inherit; cursor: pointer; }
.perch-toolbar button:hover { background: light-dark(#e2e2ec, #34343c); }
.perch-toolbar button[aria-pressed='true'] { background: light-dark(#0b57d0, #a8c7fa); color: light-dark(#ffffff, #062e6f); }
.perch-toolbar button:disabled { opacity: 0.4; cursor: default; }
.perch-toolbar :focus-visible { outline: 2px solid light-dark(#0b57d0, #a8c7fa); outline-offset: 1px; }
.perch-toolbar svg { width: 20px; height: 20px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.perch-toolbar input[type='color'] { width: 36px; height: 36px; padding: 4px; border: 0; background: none; cursor: pointer; }
.perch-toolbar input[type='range'] { width: 96px; accent-color: light-dark(#0b57d0, #a8c7fa); }
.perch-toolbar .perch-gap { width: 1px; height: 24px; margin: 0 4px; background: light-dark(#c5c6d0, #45464f); }
`;

let styleSheet: CSSStyleSheet | undefined;

/** Adds the styles of the canvases to the page, once. They follow the page's `color-scheme`. */
export function installStyles(): void {
  if (styleSheet) return;
  styleSheet = new CSSStyleSheet();
  styleSheet.replaceSync(CSS_TEXT);
  document.adoptedStyleSheets.push(styleSheet);
}

/**
 * Hides an empty canvas that lies above all others, so that browsers without a GPU do not copy it. It still receives pointers and focus.
 */
export function hideEmpty(canvas: HTMLCanvasElement, isEmpty: boolean): void {
  canvas.classList.toggle('perch-empty', isEmpty);
}
