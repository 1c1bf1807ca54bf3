import { type Element, element, elements } from './xml-tree.ts';

interface Numbered {
  numId: string;
  level: number;
}

interface Style {
  basedOn: string | undefined;
  heading: number | undefined;
  numbered: Partial<Numbered>;
}

/** Role of a paragraph: heading or list item. */
export interface ParagraphRole {
  /** Level from 1 to 6. */
  heading?: number;
  list?: { level: number; mark: string };
}

/** Detects headings and list items by a document's styles and numberings, and counts the items. */
export class DocxStyles {
  readonly #styles = new Map<string, Style>();
  /** Number format of each numbering's levels: `decimal`, `bullet`, … */
  readonly #forms = new Map<string, Map<number, string>>();
  readonly #counts = new Map<string, number[]>();

  constructor(styles: Element | undefined, numbering: Element | undefined) {
    for (const style of elements(styles, 'w:style')) {
      const id = style.attributes['w:styleId'];
      if (id === undefined) continue;
      const name = element(style, 'w:name')?.attributes['w:val'] ?? '';
      const properties = element(style, 'w:pPr');
      const [, level] = /^heading (\d)$/i.exec(name) ?? [];
      this.#styles.set(id, {
        basedOn: element(style, 'w:basedOn')?.attributes['w:val'],
        heading: level !== undefined ? Number(level) : /^title$/i.test(name) ? 1 : outline(properties),
        numbered: numberedBy(properties),
      });
    }
    const abstracts = new Map(elements(numbering, 'w:abstractNum').map((each) => [each.attributes['w:abstractNumId'], each]));
    for (const num of elements(numbering, 'w:num')) {
      const abstract = abstracts.get(element(num, 'w:abstractNumId')?.attributes['w:val']);
      const levels = elements(abstract, 'w:lvl').map((level): [number, string] => [
        Number(level.attributes['w:ilvl'] ?? 0),
        element(level, 'w:numFmt')?.attributes['w:val'] ?? 'decimal',
      ]);
      this.#forms.set(num.attributes['w:numId'] ?? '', new Map(levels));
    }
  }

  /** Call once for each paragraph, in order, since items are counted. */
  of(paragraph: Element): ParagraphRole {
    const properties = element(paragraph, 'w:pPr');
    const styled = this.#styled(element(properties, 'w:pStyle')?.attributes['w:val']);
    const heading = outline(properties) ?? styled.heading;
    if (heading !== undefined) return { heading: Math.min(6, heading) };
    const { numId, level = 0 } = { ...styled.numbered, ...numberedBy(properties) };
    if (numId === undefined || numId === '0') return {};
    const form = this.#forms.get(numId)?.get(level);
    if (form === undefined || form === 'none') return {};
    return { list: { level: Math.min(8, level), mark: form === 'bullet' ? '-' : `${this.#count(numId, level)}.` } };
  }

  /** Properties of a style, or of the styles that it is based on. */
  #styled(id: string | undefined): Pick<Style, 'heading' | 'numbered'> {
    let heading: number | undefined;
    let numbered: Partial<Numbered> = {};
    const seen = new Set<string>();
    for (let at = id; at !== undefined && !seen.has(at); at = this.#styles.get(at)?.basedOn) {
      seen.add(at);
      const style = this.#styles.get(at);
      heading ??= style?.heading;
      numbered = { ...style?.numbered, ...numbered };
    }
    return { heading, numbered };
  }

  #count(numId: string, level: number): number {
    const counts = this.#counts.get(numId) ?? [];
    counts.length = Math.max(counts.length, level + 1);
    const next = (counts[level] ?? 0) + 1;
    // A new item resets the levels below it.
    this.#counts.set(numId, [...counts.slice(0, level), next]);
    return next;
  }
}

function outline(properties: Element | undefined): number | undefined {
  const level = Number(element(properties, 'w:outlineLvl')?.attributes['w:val'] ?? 9);
  return level >= 0 && level < 9 ? level + 1 : undefined;
}

function numberedBy(properties: Element | undefined): Partial<Numbered> {
  const numbering = element(properties, 'w:numPr');
  const numId = element(numbering, 'w:numId')?.attributes['w:val'];
  const level = element(numbering, 'w:ilvl')?.attributes['w:val'];
  return { ...(numId === undefined ? {} : { numId }), ...(level === undefined ? {} : { level: Number(level) || 0 }) };
}
