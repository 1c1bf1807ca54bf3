import type { PdfFile } from '../pdf.ts';

/** Maximum number of entries of an outline, and of its levels. */
const MAX_ENTRIES = 2_000;
const MAX_LEVELS = 6;
const MAX_TITLE_CHARS = 200;
/** A paragraph that is this much longer than a title is not a heading with the title in it. */
const MAX_NUMBERING_CHARS = 20;

interface OutlineEntry {
  level: number;
  title: string;
  /** From 1. */
  page: number;
}

type OutlineItem = Awaited<ReturnType<PdfFile['getOutline']>>[number];

/** Headings of a PDF's passages, by its outline: a section begins at the paragraph with its title, or else with the page after it. */
export class PdfOutline {
  readonly #entries: OutlineEntry[];
  readonly #path: OutlineEntry[] = [];

  private constructor(entries: OutlineEntry[]) {
    this.#entries = entries;
  }

  static async read(pdf: PdfFile, signal: AbortSignal): Promise<PdfOutline> {
    const entries: OutlineEntry[] = [];
    let visited = 0;
    const visit = async (items: readonly OutlineItem[], level: number): Promise<void> => {
      for (const { title, dest, items: inner } of items) {
        signal.throwIfAborted();
        if (++visited > MAX_ENTRIES) return;
        const page = await findPage(pdf, dest);
        const text = normalize(title).slice(0, MAX_TITLE_CHARS);
        if (page !== undefined && text !== '') entries.push({ level, title: text, page });
        if (level < MAX_LEVELS) await visit(inner, level + 1);
      }
    };
    // A damaged outline leaves the document without headings.
    const outline = await pdf.getOutline().catch(() => null);
    await visit(outline ?? [], 1);
    return new PdfOutline(entries.sort((a, b) => a.page - b.page));
  }

  /** Headings above a paragraph. Paragraphs are passed in their order. */
  enter(paragraph: string, page: number): string[] | undefined {
    while ((this.#entries[0]?.page ?? page) < page) this.#open();
    const start = normalize(paragraph.slice(0, 2 * MAX_TITLE_CHARS)).toLowerCase();
    const last = this.#entries.findIndex((entry) => entry.page > page);
    const onPage = last === -1 ? this.#entries : this.#entries.slice(0, last);
    const found = onPage.findIndex(({ title }) => isTitleOf(title.toLowerCase(), start));
    for (let count = 0; count <= found; count++) this.#open();
    return this.#path.length === 0 ? undefined : this.#path.map(({ title }) => title);
  }

  #open(): void {
    const entry = this.#entries.shift();
    if (!entry) return;
    while ((this.#path.at(-1)?.level ?? 0) >= entry.level) this.#path.pop();
    this.#path.push(entry);
  }
}

const normalize = (text: string): string => text.replaceAll(/[\s\0]+/g, ' ').trim();

/** Whether a paragraph starts with a title, or is the title with a number in front. */
const isTitleOf = (title: string, paragraph: string): boolean =>
  paragraph.startsWith(title) || (paragraph.length <= title.length + MAX_NUMBERING_CHARS && paragraph.includes(title));

async function findPage(pdf: PdfFile, dest: OutlineItem['dest']): Promise<number | undefined> {
  try {
    const target: unknown = typeof dest === 'string' ? await pdf.getDestination(dest) : dest;
    const page: unknown = Array.isArray(target) ? target[0] : undefined;
    if (typeof page === 'number') return page + 1;
    if (typeof page !== 'object' || page === null || !('num' in page) || !('gen' in page)) return undefined;
    return (await pdf.getPageIndex({ num: Number(page.num), gen: Number(page.gen) })) + 1;
  } catch {
    // The entry leads nowhere.
    return undefined;
  }
}
