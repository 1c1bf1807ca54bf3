import type { Locator, Page } from 'playwright';
import { RpcError } from '#shared/rpc/errors.ts';
import { inTime } from './page-answers.ts';

/** Maximum characters of an accessibility snapshot. */
const MAX_SNAPSHOT = 200_000;
/** Maximum depth of the tree, since pages may nest without limit. */
const MAX_DEPTH = 200;
/** A document's number, and Playwright's ref of an element in it (`f1e3`: in a frame). */
const REF = /^s(\d+)((?:f\d+)?e\d+)$/;

export const isRef = (text: string): boolean => REF.test(text);

/**
 * Elements by the refs of accessibility snapshots. `s2e12` is an element in one document of a tab, as long as it exists. Playwright's own
 * refs start over with every document, so an old ref could match a different element on the next page.
 */
export class Elements {
  /** The last shown document of a tab: its number, and its start time, which distinguishes it from the next one. */
  readonly #shown = new WeakMap<Page, { number: number; began: number }>();
  #count = 0;

  /** Returns the page's accessibility tree as YAML. */
  async seen(page: Page): Promise<string> {
    const began = await beganAt(page);
    let shown = this.#shown.get(page);
    if (shown?.began !== began) this.#shown.set(page, (shown = { number: ++this.#count, began }));
    const { number } = shown;
    const tree = await inTime(page.ariaSnapshot({ mode: 'ai', depth: MAX_DEPTH }));
    const named = tree.replaceAll(/\[ref=((?:f\d+)?e\d+)\]/g, `[ref=s${number}$1]`);
    if (named.length <= MAX_SNAPSHOT) return named;
    return `${named.slice(0, named.lastIndexOf('\n', MAX_SNAPSHOT))}\n- text: (page continues)`;
  }

  /** Returns the element of a ref. Throws `NOT_FOUND` if the current page does not have it (any more). */
  async named(page: Page, ref: string): Promise<Locator> {
    const [, number, own = ''] = REF.exec(ref) ?? [];
    const shown = this.#shown.get(page);
    if (shown?.number !== Number(number) || shown.began !== (await beganAt(page))) throw stale(ref, 'it belongs to another page');
    const element = page.getByRef(own);
    if ((await inTime(element.count())) === 0) throw stale(ref, 'the page has changed');
    return element;
  }
}

const stale = (ref: string, why: string): RpcError =>
  new RpcError('NOT_FOUND', `No element ${ref}: ${why}. Take a new snapshot and use a ref from it.`);

const beganAt = (page: Page): Promise<number> => inTime(page.evaluate(() => performance.timeOrigin));
