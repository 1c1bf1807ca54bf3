import type { Page } from 'playwright';
import { waitFor } from '../support/test-gateway.ts';

/** Roles of what a person operates: each needs a name. */
const CONTROL_ROLES = new Set([
  'button',
  'checkbox',
  'combobox',
  'link',
  'listbox',
  'menuitem',
  'option',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'tab',
  'textbox',
]);

/** The controls of the page in the browser's accessibility tree: `role "name"`, in order. */
export async function listControls(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    return nodes
      .filter(({ ignored, role }) => !ignored && CONTROL_ROLES.has(String(role?.value)))
      .map(({ role, name }) => `${role?.value} ${JSON.stringify(String(name?.value ?? '').trim())}`);
  } finally {
    await session.detach();
  }
}

/** The focused element: its role-like tag and its name, by `aria-label`, label or text. */
export const describeFocus = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const at = document.activeElement;
    if (!(at instanceof HTMLElement) || at === document.body) return '';
    const labelled =
      'labels' in at ? [...((at.labels as NodeListOf<HTMLLabelElement> | null) ?? [])].map((label) => label.innerText).join(' ') : '';
    return (at.getAttribute('aria-label') ?? (labelled || at.innerText || at.id)).replace(/\s+/g, ' ').trim();
  });

/** Presses Tab (or Shift+Tab) until the element of this name has the focus. */
export async function tabTo(page: Page, name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press(key);
    const at = await describeFocus(page);
    if (typeof name === 'string' ? at === name : name.test(at)) return;
    seen.push(at);
  }
  throw new Error(`${key} never came to ${name}; it came to ${seen.join(' | ')}`);
}

/**
 * Tabs once around the page. `unfocused`: visible controls that did not get the focus. `withoutFocusRing`: controls that look the same with and without
 * the focus (including their container and label).
 */
export async function tabThroughPage(page: Page): Promise<{ reached: string[]; unfocused: string[]; withoutFocusRing: string[] }> {
  await page.evaluate(async () => {
    const isVisible = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true }) && !element.closest('[inert]');
    const list = [...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex]')]
      .filter((element) => isVisible(element) && !element.matches(':disabled, [aria-hidden="true"]'))
      // Places to jump to, as those of toasts; and what arrows come to, within a list or a menu.
      .filter((element) => !element.matches('main, section[aria-live], [data-sonner-toaster], [role="option"], [role="menuitem"]'))
      // Tab reaches one radio button of a group; arrow keys reach the others.
      .filter((element) => !(element instanceof HTMLInputElement && element.type === 'radio' && !element.checked));
    const readStyle = (element: Element): string => {
      const around: Element[] = [element, ...('labels' in element ? [...((element.labels as NodeListOf<Element> | null) ?? [])] : [])];
      for (let up = element.parentElement; up && around.length < 5; up = up.parentElement) around.push(up);
      return around
        .map((each) => {
          const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor, translate, opacity } =
            getComputedStyle(each);
          const outline = outlineStyle === 'none' ? '' : outlineWidth + outlineColor;
          return [outline, boxShadow, borderColor, backgroundColor, translate, opacity].join();
        })
        .join(' / ');
    };
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    // Waits for transitions of elements that lost the focus: their final look counts.
    const fading = document.getAnimations().filter((each) => each instanceof CSSTransition);
    await Promise.allSettled(fading.map(({ finished }) => finished));
    const name = (element: HTMLElement): string =>
      `${element.tagName.toLowerCase()} ${element.getAttribute('aria-label') ?? (element.innerText || element.id)}`.trim();
    const before = new Map(list.map((element) => [element, readStyle(element)]));
    Object.assign(window, { a11y: { list, before, readStyle, name, reached: new Set<Element>() } });
  });
  interface Walk {
    a11y: {
      list: HTMLElement[];
      before: Map<Element, string>;
      readStyle(element: Element): string;
      name(element: HTMLElement): string;
      reached: Set<Element>;
    };
  }
  const reached: string[] = [];
  const unseen: string[] = [];
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab');
    const step = await page.evaluate(async () => {
      const { a11y } = window as unknown as Walk;
      const at = document.activeElement;
      if (!(at instanceof HTMLElement) || at === document.body) return 'outside';
      if (a11y.reached.has(at)) return 'again';
      a11y.reached.add(at);
      const before = a11y.before.get(at);
      // Looks change over some frames.
      for (let frames = 0; frames < 60 && before === a11y.readStyle(at); frames++) await new Promise(requestAnimationFrame);
      return { name: a11y.name(at), unseen: before === a11y.readStyle(at) };
    });
    if (step === 'again') break;
    if (step === 'outside') continue;
    reached.push(step.name);
    if (step.unseen) unseen.push(step.name);
  }
  const missed = await page.evaluate(() => {
    const { a11y } = window as unknown as Walk;
    return a11y.list.filter((element) => element.isConnected && !a11y.reached.has(element)).map(a11y.name);
  });
  return { reached, unfocused: missed, withoutFocusRing: unseen };
}

/** Elements that overflow: the page itself, and every scrollable area except code and tables. */
export const findOverflow = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const root = document.documentElement;
    const wide = root.scrollWidth > innerWidth ? [`the page: ${root.scrollWidth} of ${innerWidth}`] : [];
    // Only its parts scroll.
    if (root.scrollHeight > innerHeight) wide.push(`the page is ${root.scrollHeight} high, of ${innerHeight}`);
    for (const element of document.querySelectorAll<HTMLElement>('body, body *')) {
      if (!element.checkVisibility() || element.closest('pre, code, table, svg')) continue;
      const { overflowX } = getComputedStyle(element);
      const name = `${element.tagName.toLowerCase()}.${element.className}`;
      if (
        /auto|scroll/.test(overflowX) &&
        element.clientWidth > 1 &&
        element.scrollWidth > element.clientWidth &&
        !element.querySelector(':scope > table')
      )
        wide.push(`${name}: ${element.scrollWidth} of ${element.clientWidth}`);
      const { right, left, width } = element.getBoundingClientRect();
      if (element.matches('a, button, input, select, textarea, dialog') && width > 1 && (right > innerWidth + 1 || left < -1))
        wide.push(`${name}: out of sight`);
    }
    return wide;
  });

/**
 * Text with a contrast under 4.5 against its background (3 for icons only), as WCAG 2.2 computes it. Disabled and invisible text does not
 * count.
 */
export const findLowContrast = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    type Colour = [r: number, g: number, b: number, a: number];
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    if (!context) throw new Error('no canvas');
    const colours = new Map<string, Colour>();
    // Converts any notation by having the browser paint a pixel.
    const parseColour = (text: string): Colour => {
      const seen = colours.get(text);
      if (seen) return seen;
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = text;
      context.fillRect(0, 0, 1, 1);
      const [r = 0, g = 0, b = 0, a = 0] = context.getImageData(0, 0, 1, 1).data;
      const colour: Colour = [r, g, b, a / 255];
      colours.set(text, colour);
      return colour;
    };
    const over = ([r, g, b, a]: Colour, [R, G, B]: Colour, opacity = 1): Colour => {
      const share = a * opacity;
      return [r * share + R * (1 - share), g * share + G * (1 - share), b * share + B * (1 - share), 1];
    };
    const behind = (element: Element): Colour => {
      const layers: Colour[] = [];
      for (let at: Element | null = element; at; at = at.parentElement) {
        const colour = parseColour(getComputedStyle(at).backgroundColor);
        layers.unshift(colour);
        if (colour[3] === 1) break;
      }
      return layers.reduce<Colour>((under, colour) => over(colour, under), parseColour('canvas'));
    };
    const light = ([r, g, b]: Colour): number => {
      const [x = 0, y = 0, z = 0] = [r, g, b].map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const computeOpacity = (element: Element): number => {
      let opacity = 1;
      for (let at: Element | null = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
      return opacity;
    };
    const found: string[] = [];
    const check = (element: Element, colour: string, text: string, least: number): void => {
      const opacity = computeOpacity(element);
      const { width, height } = element.getBoundingClientRect();
      // Invisible, or only for screen readers.
      if (opacity === 0 || width <= 1 || height <= 1 || !element.checkVisibility({ visibilityProperty: true })) return;
      if (element.closest(':disabled, [aria-disabled="true"]')) return;
      const ground = behind(element);
      const [a, b] = [light(over(parseColour(colour), ground, opacity)), light(ground)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < least)
        found.push(
          `${ratio.toFixed(2)} ${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} ${JSON.stringify(text.trim().slice(0, 40))}`,
        );
    };
    let count = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!element || !node.nodeValue?.trim() || element.closest('script, style, option')) continue;
      count++;
      check(element, getComputedStyle(element).color, node.nodeValue, 4.5);
    }
    for (const field of document.querySelectorAll<HTMLInputElement>('input[placeholder], textarea[placeholder]'))
      check(field, getComputedStyle(field, '::placeholder').color, field.placeholder, 4.5);
    for (const icon of document.querySelectorAll('button svg, a svg')) check(icon, getComputedStyle(icon).color, 'icon', 3);
    if (count < 5) found.push('there is hardly any text on the page');
    return found;
  });

/** Problems that remain after a while, each with its location. */
export async function waitForNoProblems(findProblems: () => Promise<string[]>, where: string): Promise<string[]> {
  let found: string[] = [];
  await waitFor(async () => (found = await findProblems()).length === 0, where, 2000).catch(() => {});
  return found.map((each) => `${where}: ${each}`);
}
