import type { Locator, Page } from 'playwright';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { withTimeout } from './playwright-errors.ts';

/** Maximum characters of an accessibility snapshot. */
const MAX_SNAPSHOT_CHARS = 200_000;
/** Maximum depth of the tree, since pages may nest without limit. */
const MAX_DEPTH = 200;
/** A document's number, and Playwright's ref of an element in it (`f1e3`: in a frame). */
const REF_PATTERN = /^s(\d+)((?:f\d+)?e\d+)$/;

export const isRef = (text: string): boolean => REF_PATTERN.test(text);

/**
 * Elements by the refs of accessibility snapshots. `s2e12` is an element in one document of a tab, as long as it exists. Playwright's own
 * refs start over with every document, so an old ref could match a different element on the next page.
 */
export class ElementRefs {
  /** The last shown document of a tab: its number, and its start time, which distinguishes it from the next one. */
  readonly #documents = new WeakMap<Page, { number: number; began: number }>();
  #count = 0;

  /** Returns the page's accessibility tree as YAML. */
  async snapshot(page: Page): Promise<string> {
    const began = await getTimeOrigin(page);
    let document = this.#documents.get(page);
    if (document?.began !== began) this.#documents.set(page, (document = { number: ++this.#count, began }));
    const { number } = document;
    const tree = await withTimeout(page.ariaSnapshot({ mode: 'ai', depth: MAX_DEPTH }));
    const named = tree.replaceAll(/\[ref=((?:f\d+)?e\d+)\]/g, `[ref=s${number}$1]`);
    if (named.length <= MAX_SNAPSHOT_CHARS) return named;
    return `${named.slice(0, named.lastIndexOf('\n', MAX_SNAPSHOT_CHARS))}\n- text: (page continues)`;
  }

  /** Returns the element of a ref. Throws `NOT_FOUND` if the current page does not have it (any more). */
  async getElement(page: Page, ref: string): Promise<Locator> {
    const [, number, localRef = ''] = REF_PATTERN.exec(ref) ?? [];
    const document = this.#documents.get(page);
    if (document?.number !== Number(number) || document.began !== (await getTimeOrigin(page)))
      throw createStaleRefError(ref, 'it belongs to another page');
    const element = page.getByRef(localRef);
    if ((await withTimeout(element.count())) === 0) throw createStaleRefError(ref, 'the page has changed');
    return element;
  }
}

const createStaleRefError = (ref: string, reason: string): RpcError =>
  new RpcError('NOT_FOUND', `No element ${ref}: ${reason}. Take a new snapshot and use a ref from it.`);

const getTimeOrigin = (page: Page): Promise<number> => withTimeout(page.evaluate(() => performance.timeOrigin));
