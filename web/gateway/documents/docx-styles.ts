import { type XmlElement, findElement, getChildren } from './xml-tree.ts';

interface Numbering {
  numId: string;
  level: number;
}

interface DocxStyle {
  basedOn: string | undefined;
  heading: number | undefined;
  numbering: Partial<Numbering>;
}

/** Role of a paragraph: heading or list item. */
interface ParagraphRole {
  /** Level from 1 to 6. */
  heading?: number;
  list?: { level: number; mark: string };
}

/** Detects headings and list items by a document's styles and numberings, and counts the items. */
export class DocxStyles {
  readonly #styles = new Map<string, DocxStyle>();
  /** Number format of each numbering's levels: `decimal`, `bullet`, … */
  readonly #formats = new Map<string, Map<number, string>>();
  readonly #counts = new Map<string, number[]>();

  constructor(styles: XmlElement | undefined, numbering: XmlElement | undefined) {
    for (const style of getChildren(styles, 'w:style')) {
      const id = style.attributes['w:styleId'];
      if (id === undefined) continue;
      const name = findElement(style, 'w:name')?.attributes['w:val'] ?? '';
      const properties = findElement(style, 'w:pPr');
      const [, level] = /^heading (\d)$/i.exec(name) ?? [];
      this.#styles.set(id, {
        basedOn: findElement(style, 'w:basedOn')?.attributes['w:val'],
        heading: level !== undefined ? Number(level) : /^title$/i.test(name) ? 1 : readOutlineLevel(properties),
        numbering: readNumbering(properties),
      });
    }
    const abstracts = new Map(getChildren(numbering, 'w:abstractNum').map((each) => [each.attributes['w:abstractNumId'], each]));
    for (const num of getChildren(numbering, 'w:num')) {
      const abstract = abstracts.get(findElement(num, 'w:abstractNumId')?.attributes['w:val']);
      const levels = getChildren(abstract, 'w:lvl').map((level): [number, string] => [
        Number(level.attributes['w:ilvl'] ?? 0),
        findElement(level, 'w:numFmt')?.attributes['w:val'] ?? 'decimal',
      ]);
      this.#formats.set(num.attributes['w:numId'] ?? '', new Map(levels));
    }
  }

  /** Call once for each paragraph, in order, since items are counted. */
  getRole(paragraph: XmlElement): ParagraphRole {
    const properties = findElement(paragraph, 'w:pPr');
    const inherited = this.#resolveStyle(findElement(properties, 'w:pStyle')?.attributes['w:val']);
    const heading = readOutlineLevel(properties) ?? inherited.heading;
    if (heading !== undefined) return { heading: Math.min(6, heading) };
    const { numId, level = 0 } = { ...inherited.numbering, ...readNumbering(properties) };
    if (numId === undefined || numId === '0') return {};
    const format = this.#formats.get(numId)?.get(level);
    if (format === undefined || format === 'none') return {};
    return { list: { level: Math.min(8, level), mark: format === 'bullet' ? '-' : `${this.#nextNumber(numId, level)}.` } };
  }

  /** Properties of a style, or of the styles that it is based on. */
  #resolveStyle(id: string | undefined): Pick<DocxStyle, 'heading' | 'numbering'> {
    let heading: number | undefined;
    let numberingOptions: Partial<Numbering> = {};
    const seen = new Set<string>();
    for (let styleId = id; styleId !== undefined && !seen.has(styleId); styleId = this.#styles.get(styleId)?.basedOn) {
      seen.add(styleId);
      const style = this.#styles.get(styleId);
      heading ??= style?.heading;
      numberingOptions = { ...style?.numbering, ...numberingOptions };
    }
    return { heading, numbering: numberingOptions };
  }

  #nextNumber(numId: string, level: number): number {
    const counts = this.#counts.get(numId) ?? [];
    counts.length = Math.max(counts.length, level + 1);
    const next = (counts[level] ?? 0) + 1;
    // A new item resets the levels below it.
    this.#counts.set(numId, [...counts.slice(0, level), next]);
    return next;
  }
}

function readOutlineLevel(properties: XmlElement | undefined): number | undefined {
  const level = Number(findElement(properties, 'w:outlineLvl')?.attributes['w:val'] ?? 9);
  return level >= 0 && level < 9 ? level + 1 : undefined;
}

function readNumbering(properties: XmlElement | undefined): Partial<Numbering> {
  const numbering = findElement(properties, 'w:numPr');
  const numId = findElement(numbering, 'w:numId')?.attributes['w:val'];
  const level = findElement(numbering, 'w:ilvl')?.attributes['w:val'];
  return { ...(numId === undefined ? {} : { numId }), ...(level === undefined ? {} : { level: Number(level) || 0 }) };
}
