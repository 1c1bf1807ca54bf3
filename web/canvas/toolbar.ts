import { installStyles } from './canvas-styles.ts';

/** Paths of icons on a grid of 24 × 24. */
const ICON_PATHS = {
  select: 'M5 3l14 8-6 2-3 6z',
  pen: 'M4 20l4-1L19 8l-3-3L5 16zM14 7l3 3',
  rect: 'M4 6h16v12H4z',
  circle: 'M12 4a8 8 0 1 0 0 16a8 8 0 1 0 0-16z',
  arrow: 'M5 19L19 5M9 5h10v10',
  marker: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18zM10.5 9.5L12.500 8v8',
  text: 'M5 6V4h14v2M12 4v16M9 20h6',
  undo: 'M9 14L4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
  redo: 'M15 14l5-5-5-5M20 9H10a6 6 0 0 0 0 12h3',
  clear: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  save: 'M12 3v12M7 10l5 5 5-5M4 20h16',
} as const;
type ToolIconName = keyof typeof ICON_PATHS;

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

function createIcon(name: ToolIconName): SVGElement {
  const svg = document.createElementNS(SVG_NAMESPACE, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.appendChild(document.createElementNS(SVG_NAMESPACE, 'path')).setAttribute('d', ICON_PATHS[name]);
  return svg;
}

/** A button with an icon and a name, which is also its tooltip. */
export function createToolButton(picture: ToolIconName, name: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.title = name;
  button.setAttribute('aria-label', name);
  button.append(createIcon(picture));
  button.addEventListener('click', onClick);
  return button;
}

/** A thin line between groups. */
export function createGap(): HTMLElement {
  const line = document.createElement('span');
  line.className = 'perch-gap';
  return line;
}

/** A toolbar of buttons and fields: its buttons are one tab stop, and arrow keys move between them. */
export function createToolbar(name: string, parts: readonly HTMLElement[]): HTMLElement {
  installStyles();
  const bar = document.createElement('div');
  bar.className = 'perch-toolbar';
  bar.setAttribute('role', 'toolbar');
  bar.setAttribute('aria-label', name);
  bar.append(...parts);
  const getButtons = (): HTMLButtonElement[] => [...bar.querySelectorAll('button')].filter(({ disabled }) => !disabled);
  const setTabStop = (stop: HTMLButtonElement | undefined): void => {
    for (const button of bar.querySelectorAll('button')) button.tabIndex = button === stop ? 0 : -1;
  };
  setTabStop(getButtons()[0]);
  bar.addEventListener('focusin', ({ target }) => target instanceof HTMLButtonElement && setTabStop(target));
  bar.addEventListener('keydown', (event) => {
    const buttons = getButtons();
    const at = buttons.findIndex((button) => button === event.target);
    if (at < 0) return;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons.at(to % buttons.length)?.focus();
  });
  return bar;
}
