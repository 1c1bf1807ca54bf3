import { Breath } from '../documents/breath.ts';
import { Bm25 } from '../retrieval/bm25.ts';
import { readQuery } from '../retrieval/search-query.ts';
import { snippetOf } from '../retrieval/snippet.ts';
import { type Claim, ClaimStatus } from './claim.ts';
import type { WikiVault } from './vault.ts';

/** Number of leading characters of a page that are indexed. */
const INDEXED_CHARS = 200_000;
const SHOWN = 240;

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

interface Entry {
  path: string;
  title: string;
  text: string;
  claim?: Claim;
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Searches a wiki. The index is kept until `forget` is called. */
export class WikiSearch {
  readonly #vault: WikiVault;
  #index: Promise<{ entries: Entry[]; words: Bm25<Entry> }> | undefined;

  constructor(vault: WikiVault) {
    this.#vault = vault;
  }

  /** Discards the index after a change. */
  forget(): void {
    this.#index = undefined;
  }

  /** Best matches first; pages whose title matches, even with an incomplete last word, come before all others. */
  async search(query: string, limit: number): Promise<WikiHit[]> {
    this.#index ??= this.#read().catch((error: unknown) => {
      this.#index = undefined;
      throw error;
    });
    const { entries, words } = await this.#index;
    const wanted = fold(query.trim());
    const found = words.search(query, entries.length).map(({ doc, score }): [Entry, number] => [doc, score * (stands(doc) ? 1 : 0.5)]);
    const here = new Map(found);
    const top = Math.max(0, ...here.values());
    for (const entry of entries) if (!entry.claim && fold(entry.title).includes(wanted)) here.set(entry, (here.get(entry) ?? 0) + top + 1);
    const read = readQuery(query);
    return [...here]
      .sort(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(([{ path, title, text, claim }, score]) => ({
        kind: claim ? 'claim' : 'page',
        ...{ path, title, score },
        text: snippetOf(read, text, SHOWN).snippet,
        ...(claim && { claim }),
      }));
  }

  async #read(): Promise<{ entries: Entry[]; words: Bm25<Entry> }> {
    const breath = new Breath(new AbortController().signal);
    const { files } = await this.#vault.graph();
    const pages = [...files.values()].map(({ page: { path, title, content } }) => ({ path, title, text: content.slice(0, INDEXED_CHARS) }));
    const titles = new Map(pages.map(({ path, title }) => [path, title]));
    const claims = (await this.#vault.claims.listClaims()).map((claim) => {
      return { path: claim.pagePath, title: titles.get(claim.pagePath) ?? claim.pagePath, text: claim.text, claim };
    });
    const entries: Entry[] = [...pages, ...claims];
    const words = new Bm25<Entry>();
    for (const entry of entries) {
      words.add(entry, entry.claim ? entry.text : [{ text: entry.title, weight: 3 }, { text: entry.text }]);
      await breath.after(entry.text.length);
    }
    return { entries, words };
  }
}

/** Superseded and refuted claims rank after active ones. */
const stands = ({ claim }: Entry): boolean => claim === undefined || claim.status === ClaimStatus.ACTIVE;
