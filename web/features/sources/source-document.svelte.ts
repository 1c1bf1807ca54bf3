import { fromBase64 } from '#shared/base64.ts';
import type { CollectionDocument } from '#shared/rpc/methods/collection-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { m } from '#app/i18n/messages.ts';
import type { ShownSource } from '#app/sources/source-viewer.svelte.ts';
import { type Problem, toProblem } from '#kit/problems.ts';

/** Characters of a document that are loaded around a passage, and at a time before and after it. */
const AROUND_CHARS = 4_000;
const STEP_CHARS = 12_000;
/** Maximum characters of a page. */
const MAX_PAGE_CHARS = 60_000;

/** A part of a document's text, or the passage alone. */
interface SourceText {
  text: string;
  /** Offset of `text` in the document. */
  offset: number;
  /** Offset of the text after it; null at the end. */
  next: number | null;
  /** Page that the text is; null for documents without pages. */
  page: number | null;
}

/** The document of a source, loaded at the place of a passage. */
export class SourceDocument {
  readonly shown: ShownSource;
  document = $state.raw<CollectionDocument | null>(null);
  part = $state.raw<SourceText | null>(null);
  /** Offsets of the quote in the text of `part`; null if it is not in it. */
  readonly highlight = $derived.by(() => this.#findQuote());
  isLoading = $state(false);
  /** The document is missing, or its text is another one now: `part` is the cited passage. */
  isGone = $state(false);
  problem = $state.raw<Problem | null>(null);
  #loadCount = 0;
  #original: Promise<{ filename: string; blob: Blob }> | undefined;

  constructor(shown: ShownSource) {
    this.shown = shown;
    if (shown.source.kind === 'passage' && shown.source.documentId !== undefined) void this.load();
    else this.part = this.#toPassage();
  }

  /** Loads the text at the passage. */
  async load(): Promise<void> {
    const { locator } = this.shown.source;
    const { start = 0, end = start, page } = locator ?? {};
    const from = Math.max(0, start - AROUND_CHARS);
    await this.#read(page === undefined ? { offset: from, limit: end - from + AROUND_CHARS } : { page, limit: MAX_PAGE_CHARS });
    if (this.part && !this.highlight) {
      this.isGone = true;
      this.part = this.#toPassage();
    }
  }

  /** Shows another page. */
  async showPage(page: number): Promise<void> {
    await this.#read({ page, limit: MAX_PAGE_CHARS });
  }

  /** Loads text before the shown part. */
  async loadEarlier(): Promise<void> {
    const before = this.part;
    if (!before || before.offset === 0) return;
    const offset = Math.max(0, before.offset - STEP_CHARS);
    const { part } = (await this.#call({ offset, limit: before.offset - offset })) ?? {};
    if (part) this.part = { ...before, text: part.text + before.text, offset };
  }

  /** Loads text after the shown part. */
  async loadLater(): Promise<void> {
    const before = this.part;
    if (!before || before.next === null) return;
    const { part } = (await this.#call({ offset: before.next, limit: STEP_CHARS })) ?? {};
    if (part) this.part = { ...before, text: before.text + part.text, next: part.next };
  }

  /** Whether the original is a PDF, whose pages can be drawn. */
  get isPdf(): boolean {
    return this.document?.hasOriginal === true && this.document.mimeType === 'application/pdf';
  }

  /** The file itself; fetched once. */
  fetchOriginal(): Promise<{ filename: string; blob: Blob }> {
    this.#original ??= this.#fetchOriginal().catch((error: unknown) => {
      this.#original = undefined;
      throw error;
    });
    return this.#original;
  }

  async #fetchOriginal(): Promise<{ filename: string; blob: Blob }> {
    const { documentId = '' } = this.shown.source;
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (let offset = 0; ;) {
      const { filename, mimeType, data, next } = await gateway.call('collections.original', { documentId, offset });
      parts.push(fromBase64(data));
      if (next === null) return { filename, blob: new Blob(parts, { type: mimeType }) };
      offset = next;
    }
  }

  async #read(place: { offset: number; limit: number } | { page: number; limit: number }): Promise<void> {
    const read = await this.#call(place);
    if (!read) return;
    this.document = read.document;
    this.part = read.part;
  }

  /** Undefined if it failed or another call has begun. */
  async #call(place: { offset: number; limit: number } | { page: number; limit: number }) {
    const { documentId = '' } = this.shown.source;
    const loadId = ++this.#loadCount;
    this.isLoading = true;
    this.problem = null;
    try {
      const { document, text, offset, next, passages } = await gateway.call('collections.read', { documentId, ...place });
      if (loadId !== this.#loadCount) return undefined;
      if (!('page' in place)) return { document, part: { text, offset, next, page: null } };
      const after = passages.find(({ locator }) => (locator.page ?? 0) > place.page)?.locator.start;
      const length = after === undefined ? text.length : Math.max(0, after - offset);
      return { document, part: { text: text.slice(0, length).trimEnd(), offset, next: null, page: place.page } };
    } catch (error) {
      if (loadId !== this.#loadCount) return undefined;
      if (error instanceof RpcError && error.code === 'NOT_FOUND') {
        this.isGone = true;
        this.part = this.#toPassage();
      } else this.problem = toProblem(error, m.sources_doing_read());
      return undefined;
    } finally {
      if (loadId === this.#loadCount) this.isLoading = false;
    }
  }

  /** The passage alone, as it was when it was cited. */
  #toPassage(): SourceText {
    const { text, locator } = this.shown.source;
    return { text, offset: locator?.start ?? 0, next: null, page: null };
  }

  #findQuote(): { start: number; end: number } | null {
    const { part } = this;
    if (!part) return null;
    const { source, quote = { start: 0, end: source.text.length } } = this.shown;
    const quoted = source.text.slice(quote.start, quote.end);
    const expected = (source.locator?.start ?? 0) + quote.start - part.offset;
    const start = part.text.startsWith(quoted, expected) && expected >= 0 ? expected : part.text.indexOf(quoted);
    return start === -1 || quoted === '' ? null : { start, end: start + quoted.length };
  }
}
