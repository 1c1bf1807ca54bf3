import type { Locator, Page } from 'playwright';
import { RpcError } from '#shared/rpc/errors.ts';
import { inTime } from './page-answers.ts';

/** Characters of one accessibility snapshot. */
const MAX_SNAPSHOT = 200_000;
/** Depth of the tree: a page may nest without end. */
const MAX_DEPTH = 200;
/** A document's number, and what Playwright calls the element in it (`f1e3`: in a frame). */
const REF = /^s(\d+)((?:f\d+)?e\d+)$/;

export const isRef = (text: string): boolean => REF.test(text);

/**
 * Elements by short names: what an accessibility snapshot calls `s2e12` is that element, in that document of that tab, for as long as it is there. Playwright's own
 * refs begin anew with every document, so that a ref of the page before would name something else on the next.
 */
export class Elements {
  /** The document of a tab that was last shown: its number, and when it began, which tells it from the next one. */
  readonly #shown = new WeakMap<Page, { number: number; began: number }>();
  #count = 0;

  /** The page as its accessibility tree, in lines of YAML. */
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

  /** The element of a ref. Throws `NOT_FOUND` for one that the current page does not have (any more). */
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
