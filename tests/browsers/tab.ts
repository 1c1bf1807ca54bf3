import { waitFor } from '../support/test-gateway.ts';
import type { Point, TabDriver } from './browser-driver.ts';

export type Role = 'button' | 'link' | 'menuitem' | 'radio' | 'textbox' | 'application';

const WAIT_MS = 20_000;
const SELECTORS: Record<Role, string> = {
  button: 'button, [role=button]',
  link: 'a[href]',
  menuitem: '[role=menuitem]',
  radio: 'input[type=radio], [role=radio]',
  textbox: 'textarea, [contenteditable=true], [role=textbox], input:not([type]), input[type=text]',
  application: '[role=application]',
};

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Runs in the page: scrolls to the first visible, enabled element of this name and returns its box; null if there is none. */
function findBox(selector: string, source: string): Box | null {
  const pattern = new RegExp(source);
  const getName = (element: HTMLElement): string => {
    const labels = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? [...(element.labels ?? [])] : [];
    const ids = element.getAttribute('aria-labelledby')?.split(' ') ?? [];
    const labelledBy = ids.flatMap((id) => document.getElementById(id) ?? []);
    const label = [...labelledBy, ...labels].map(({ textContent }) => textContent).join(' ');
    return element.getAttribute('aria-label') ?? (label || element.textContent || element.title);
  };
  const root = document.querySelector('dialog:modal') ?? document;
  for (const element of root.querySelectorAll<HTMLElement>(selector)) {
    if (element.getClientRects().length === 0 || element.closest('[inert]') || element.matches(':disabled')) continue;
    if (!pattern.test(getName(element).replace(/\s+/g, ' ').trim())) continue;
    element.scrollIntoView({ block: 'nearest' });
    const { left, top, width, height } = element.getBoundingClientRect();
    return { left, top, width, height };
  }
  return null;
}

const toSource = (name: string | RegExp): string =>
  typeof name === 'string' ? `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$` : name.source;

/** Uses a tab as a person does: by roles, names and texts. Each method waits until it can act, and fails after 20 s. */
export class Tab {
  readonly #driver: TabDriver;

  constructor(driver: TabDriver) {
    this.#driver = driver;
  }

  goto = (url: string): Promise<void> => this.#driver.goto(url);
  reload = (): Promise<void> => this.#driver.reload();
  close = (): Promise<void> => this.#driver.close();
  evaluate = (expression: string): Promise<unknown> => this.#driver.evaluate(expression);

  async click(role: Role, name: string | RegExp): Promise<void> {
    await this.#driver.drag([await this.#find(role, name, 0.5, 0.5)]);
  }

  /** Drags between two points of an element, given as shares of its width and height. */
  async dragWithin(role: Role, name: string | RegExp, from: readonly [number, number], to: readonly [number, number]): Promise<void> {
    const first = await this.#find(role, name, ...from);
    await this.#driver.drag([first, await this.#find(role, name, ...to)]);
  }

  /** Types a message and sends it. */
  async send(message: string): Promise<void> {
    // A press misses the field if the page is still moving it.
    const focusField = async (): Promise<boolean> => {
      await this.click('textbox', 'Message');
      return (await this.evaluate(`document.activeElement.matches('textarea')`)) === true;
    };
    await waitFor(focusField, 'the keyboard in the message field', WAIT_MS);
    await this.#driver.type(message);
    await this.waitFor(`document.activeElement.value === ${JSON.stringify(message)}`);
    await this.#driver.pressEnter();
    await this.waitFor(`document.activeElement.value !== ${JSON.stringify(message)}`);
  }

  waitForText = (text: string): Promise<void> => this.waitFor(`document.body.innerText.includes(${JSON.stringify(text)})`);

  /** Waits until an expression is true in the page. */
  async waitFor(expression: string): Promise<void> {
    await this.#waitForValue(expression, (value) => value === true, expression);
  }

  async #find(role: Role, name: string | RegExp, x: number, y: number): Promise<Point> {
    const expression = `(${findBox.toString()})(${JSON.stringify(SELECTORS[role])}, ${JSON.stringify(toSource(name))})`;
    let last = 'null';
    // A press would miss an element that still moves.
    const isStill = (value: unknown): boolean => {
      const before = last;
      last = JSON.stringify(value);
      return value !== null && last === before;
    };
    const { left, top, width, height } = (await this.#waitForValue(expression, isStill, `${role} “${String(name)}”`)) as Box;
    return { x: Math.round(left + x * width), y: Math.round(top + y * height) };
  }

  async #waitForValue(expression: string, isWanted: (value: unknown) => boolean, label: string): Promise<unknown> {
    let value: unknown;
    let problem = '';
    const read = async (): Promise<boolean> => {
      try {
        value = await this.#driver.evaluate(expression);
      } catch (error) {
        // A page that is being replaced cannot evaluate anything.
        problem = `\n${String(error)}`;
        return false;
      }
      return isWanted(value);
    };
    try {
      await waitFor(read, label, WAIT_MS);
    } catch (error) {
      const shown = await this.#driver.evaluate('`${location.href}\n${document.body.innerText.slice(-1500)}`').catch(String);
      throw new Error(`${String(error)}${problem}\n${String(shown)}`, { cause: error });
    }
    return value;
  }
}
