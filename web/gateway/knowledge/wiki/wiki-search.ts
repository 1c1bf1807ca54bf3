import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { TextIndex } from '../search/text-index.ts';
import { parseQuery } from '../search/search-query.ts';
import { createSnippet } from '../search/snippet.ts';
import { type Claim, ClaimStatus } from './claim.ts';
import type { WikiVault } from './wiki-vault.ts';

/** Number of leading characters of a page that are indexed. */
const MAX_INDEXED_CHARS = 200_000;
const SNIPPET_CHARS = 240;

/** A page or claim that matches a query. */
export interface WikiHit {
  kind: 'page' | 'claim';
  path: string;
  title: string;
  /** Excerpt with the matches, on one line. */
  text: string;
  claim?: Claim;
  score: number;
}

interface WikiEntry {
  path: string;
  title: string;
  text: string;
  claim?: Claim;
}

const foldText = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Searches a wiki. The index is kept until `invalidate` is called. */
export class WikiSearch {
  readonly #vault: WikiVault;
  #index: Promise<{ entries: WikiEntry[]; words: TextIndex<WikiEntry> }> | undefined;

  constructor(vault: WikiVault) {
    this.#vault = vault;
  }

  /** Discards the index after a change. */
  invalidate(): void {
    this.#index = undefined;
  }

  /** Best matches first; pages whose title matches, even with an incomplete last word, come before all others. */
  async search(query: string, limit: number): Promise<WikiHit[]> {
    this.#index ??= this.#buildIndex().catch((error: unknown) => {
      this.#index = undefined;
      throw error;
    });
    const { entries, words } = await this.#index;
    const foldedQuery = foldText(query.trim());
    const found = words
      .search(query, entries.length)
      .map(({ doc, score }): [WikiEntry, number] => [doc, score * (isActive(doc) ? 1 : 0.5)]);
    const remaining = new Map(found);
    const top = Math.max(0, ...remaining.values());
    for (const entry of entries)
      if (!entry.claim && foldText(entry.title).includes(foldedQuery)) remaining.set(entry, (remaining.get(entry) ?? 0) + top + 1);
    const parsedQuery = parseQuery(query);
    return [...remaining]
      .sort(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(([{ path, title, text, claim }, score]) => ({
        kind: claim ? 'claim' : 'page',
        ...{ path, title, score },
        text: createSnippet(parsedQuery, text, SNIPPET_CHARS).snippet,
        ...(claim && { claim }),
      }));
  }

  async #buildIndex(): Promise<{ entries: WikiEntry[]; words: TextIndex<WikiEntry> }> {
    const slicer = new TimeSlicer(new AbortController().signal);
    const { files } = await this.#vault.graph();
    const pages = [...files.values()].map(({ page: { path, title, content } }) => ({
      path,
      title,
      text: content.slice(0, MAX_INDEXED_CHARS),
    }));
    const titles = new Map(pages.map(({ path, title }) => [path, title]));
    const claims = (await this.#vault.claims.listClaims()).map((claim) => {
      return { path: claim.pagePath, title: titles.get(claim.pagePath) ?? claim.pagePath, text: claim.text, claim };
    });
    const entries: WikiEntry[] = [...pages, ...claims];
    const words = new TextIndex<WikiEntry>();
    for (const entry of entries) {
      words.add(entry, entry.claim ? entry.text : [{ text: entry.title, weight: 3 }, { text: entry.text }]);
      await slicer.after(entry.text.length);
    }
    return { entries, words };
  }
}

/** Superseded and refuted claims rank after active ones. */
const isActive = ({ claim }: WikiEntry): boolean => claim === undefined || claim.status === ClaimStatus.ACTIVE;
