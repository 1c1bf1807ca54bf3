import { Breath } from '../documents/breath.ts';
import { Bm25 } from '../retrieval/bm25.ts';
import { readQuery } from '../retrieval/search-query.ts';
import { snippetOf } from '../retrieval/snippet.ts';
import { type Claim, ClaimStatus } from './claim.ts';
import type { WikiVault } from './vault.ts';

/** Of a long page only the beginning is searched. */
const INDEXED_CHARS = 200_000;
const SHOWN = 240;

/** A page or a claim that has words of a query. */
export interface WikiHit {
  kind: 'page' | 'claim';
  path: string;
  title: string;
  /** What of it shows them, on one line. */
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

/** Searches a wiki; what it has read for that stays until `forget`. */
export class WikiSearch {
  readonly #vault: WikiVault;
  #index: Promise<{ entries: Entry[]; words: Bm25<Entry> }> | undefined;

  constructor(vault: WikiVault) {
    this.#vault = vault;
  }

  /** Something in the wiki is another now. */
  forget(): void {
    this.#index = undefined;
  }

  /** The best first; a page whose title has the query, also where its last word is unfinished, before all others. */
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

/** What was superseded or refuted is found after what still stands. */
const stands = ({ claim }: Entry): boolean => claim === undefined || claim.status === ClaimStatus.ACTIVE;
