import { Breath } from './breath.ts';
import { chartText } from './charts.ts';
import { cut } from './cut.ts';
import { diagramText } from './diagrams.ts';
import type { DecodedRequest, DocumentText } from './documents.ts';
import { DocxStyles } from './docx-styles.ts';
import { latexOf } from './equations.ts';
import { OfficePackage } from './office-package.ts';
import { markdownTable, plainTable } from './table.ts';
import { type Element, element, elements, textIn } from './xml-tree.ts';

/**
 * Reads a word-processor file as Markdown: headings, lists, tables, charts, diagrams, links, headers and footers, and footnotes, endnotes
 * and comments at the end. Tracked deletions are left out.
 */
export async function readDocx({ name, bytes, offset = 0, limit }: DecodedRequest, signal: AbortSignal): Promise<DocumentText> {
  const parts = await OfficePackage.open(name, bytes, signal);
  const { path: main, root } = await parts.main('word/document.xml', 'w:document');
  const relations = [...(await parts.relations(main)).values()];
  const related = async (type: string): Promise<Element | undefined> => {
    const found = relations.find((relation) => relation.type === type);
    return found && parts.tree(found.target);
  };
  const styles = new DocxStyles(await related('styles'), await related('numbering'));
  const breath = new Breath(signal);
  const read = async (path: string, elementsOf: readonly Element[]): Promise<string[][]> => {
    const writer = await DocxWriter.for(parts, path, styles);
    const found: string[][] = [];
    for (const block of elementsOf) {
      const blocks = writer.blocks(block);
      found.push(blocks);
      // A paragraph's XML is several times as long as its text.
      await breath.after(200 + 5 * (blocks.at(-1)?.length ?? 0));
    }
    return found;
  };
  const margin = async (type: 'header' | 'footer'): Promise<string[]> => {
    const texts = new Set<string>();
    for (const { target } of relations.filter((relation) => relation.type === type))
      texts.add((await read(target, elements(await parts.tree(target)))).flat().join('\n'));
    // Skip headers and footers without letters, such as page numbers.
    return [...texts].filter((text) => /\p{L}/u.test(text)).map((text) => `${type === 'header' ? 'Header' : 'Footer'}: ${text}`);
  };
  const blocks = [
    ...(await margin('header')),
    ...(await read(main, elements(element(root, 'w:body')))).flat(),
    ...(await margin('footer')),
  ];
  for (const [mark, type] of NOTES) {
    const path = relations.find((relation) => relation.type === type)?.target ?? '';
    // The first two are the separators between text and notes.
    const notes = elements(await parts.tree(path)).filter(({ attributes }) => attributes['w:id'] && attributes['w:type'] === undefined);
    for (const note of notes) {
      const author = type === 'comments' ? `Comment by ${note.attributes['w:author'] || 'an unnamed author'}: ` : '';
      const text = (await read(path, elements(note))).flat().join(' ');
      if (text !== '') blocks.push(`[^${mark}${note.attributes['w:id']}]: ${author}${text}`);
    }
  }
  const title = element(await parts.tree('docProps/core.xml'), 'dc:title');
  return {
    ...(title && textIn(title).trim() !== '' ? { title: textIn(title).trim() } : {}),
    ...cut(joined(blocks), offset, limit),
  };
}

/** Parts with notes, and the prefix of their numbers in the text. */
const NOTES = [
  ['', 'footnotes'],
  ['e', 'endnotes'],
  ['c', 'comments'],
] as const;

/** Text of a drawing by relationship id; `table` formats its tables. */
type Drawings = Map<string, (table: typeof markdownTable) => string>;

async function drawings(parts: OfficePackage, relations: Awaited<ReturnType<OfficePackage['relations']>>): Promise<Drawings> {
  const found: Drawings = new Map();
  for (const [id, { type, target }] of relations) {
    if (type !== 'chart' && type !== 'diagramData') continue;
    const tree = await parts.tree(target);
    found.set(id, (table) => (type === 'chart' ? chartText(tree, table) : diagramText(tree)));
  }
  return found;
}

/** Joins list items by line breaks, everything else by empty lines. */
function joined(blocks: readonly string[]): string {
  let text = '';
  let before = '';
  for (const block of blocks) {
    if (block === '') continue;
    const item = /^\s*(-|\d+\.) /;
    text += text === '' ? block : `${item.test(before) && item.test(block) ? '\n' : '\n\n'}${block}`;
    before = block;
  }
  return text;
}

/** Elements whose content is not part of the current text. */
const LEFT_OUT = new Set([
  'w:del',
  'w:moveFrom',
  'w:instrText',
  'w:delText',
  'mc:Fallback',
  'w:pPr',
  'w:rPr',
  'w:sdtPr',
  'w:tblPr',
  'w:trPr',
]);

/** Characters of symbol fonts (Wingdings, Symbol), by their code. */
const SYMBOLS: Readonly<Record<string, string>> = {
  F06F: '☐',
  F0A8: '☐',
  F0FE: '☑',
  F0FD: '☒',
  F0FC: '✓',
  F0FB: '✗',
  F0E0: '→',
  F0DF: '←',
  F0B7: '•',
  F0A7: '▪',
};

/** Maximum number of columns created by spanning cells: Word allows 63. */
const MAX_SPANNED = 100;

class DocxWriter {
  readonly #styles: DocxStyles;
  readonly #targets: ReadonlyMap<string, string>;
  readonly #drawings: Drawings;
  /** Nesting depth of table cells. */
  #cells = 0;

  private constructor(styles: DocxStyles, targets: ReadonlyMap<string, string>, drawings: Drawings) {
    this.#styles = styles;
    this.#targets = targets;
    this.#drawings = drawings;
  }

  /** Creates a writer for the text of one part, with its relationships. */
  static async for(parts: OfficePackage, path: string, styles: DocxStyles): Promise<DocxWriter> {
    const relations = await parts.relations(path);
    return new DocxWriter(styles, new Map([...relations].map(([id, { target }]) => [id, target])), await drawings(parts, relations));
  }

  /** A paragraph, a table, or the content of a wrapper. */
  blocks(block: Element): string[] {
    if (LEFT_OUT.has(block.name)) return [];
    if (block.name === 'w:p') return this.#paragraph(block);
    if (block.name === 'w:tbl') return [this.#table(block)];
    return elements(block).flatMap((child) => this.blocks(child));
  }

  #paragraph(paragraph: Element): string[] {
    // Text boxes come after the paragraph that they are anchored to.
    const boxes: string[] = [];
    const text = this.#inline(paragraph, boxes).trim();
    if (text === '') return boxes;
    const { heading, list } = this.#styles.of(paragraph);
    if (heading !== undefined) return [`${'#'.repeat(heading)} ${text.replaceAll('\n', ' ')}`, ...boxes];
    if (list) return [`${'  '.repeat(list.level)}${list.mark} ${text.replaceAll('\n', `\n${'  '.repeat(list.level + 1)}`)}`, ...boxes];
    return [text, ...boxes];
  }

  #inline(of: Element, boxes: string[]): string {
    let text = '';
    for (const child of elements(of)) text += this.#piece(child, boxes);
    return text;
  }

  #piece(child: Element, boxes: string[]): string {
    if (LEFT_OUT.has(child.name)) return '';
    switch (child.name) {
      case 'w:t':
        return textIn(child);
      case 'w:tab':
      case 'w:ptab':
        return '\t';
      case 'w:br':
      case 'w:cr':
        return '\n';
      case 'w:noBreakHyphen':
        return '\u2011';
      case 'w:footnoteReference':
        return `[^${child.attributes['w:id'] ?? ''}]`;
      case 'w:endnoteReference':
        return `[^e${child.attributes['w:id'] ?? ''}]`;
      case 'w:commentReference':
        return `[^c${child.attributes['w:id'] ?? ''}]`;
      // WordArt, such as a watermark.
      case 'v:textpath':
        return child.attributes['string'] ?? '';
      case 'w:hyperlink': {
        const text = this.#inline(child, boxes);
        const target = this.#targets.get(child.attributes['r:id'] ?? '');
        return target !== undefined && /^(https?|mailto):/i.test(target) && target !== text ? `[${text}](${target})` : text;
      }
      case 'wp:docPr':
        return child.attributes['descr'] ? `[Picture: ${child.attributes['descr']}]` : '';
      case 'w:sym':
        return SYMBOLS[child.attributes['w:char']?.toUpperCase() ?? ''] ?? '\uFFFD';
      case 'm:oMathPara':
        return elements(child, 'm:oMath')
          .map((equation) => `$$${latexOf(equation)}$$`)
          .join('\n');
      case 'm:oMath':
        return `$${latexOf(child)}$`;
      case 'c:chart':
      case 'dgm:relIds': {
        const id = child.attributes[child.name === 'c:chart' ? 'r:id' : 'r:dm'] ?? '';
        const drawing = this.#drawings.get(id);
        if (drawing) boxes.push(drawing(this.#cells > 0 ? plainTable : markdownTable));
        // Each drawing is written once, since a hostile file can refer to it a million times.
        this.#drawings.delete(id);
        return '';
      }
      case 'w:txbxContent':
        boxes.push(...elements(child).flatMap((block) => this.blocks(block)));
        return '';
      default:
        return this.#inline(child, boxes);
    }
  }

  #table(table: Element): string {
    const rows: string[][] = [];
    for (const row of wrapped(table, 'w:tr')) {
      const cells: string[] = [];
      for (const cell of wrapped(row, 'w:tc')) {
        const properties = element(cell, 'w:tcPr');
        const merged = element(properties, 'w:vMerge');
        // A cell merged with the one above has no content of its own.
        const goesOn = merged !== undefined && merged.attributes['w:val'] !== 'restart';
        cells.push(goesOn ? '' : this.#cell(cell));
        const span = Math.min(MAX_SPANNED - cells.length, Number(element(properties, 'w:gridSpan')?.attributes['w:val'] ?? 1));
        for (let more = 1; more < span; more++) cells.push('');
      }
      rows.push(cells);
    }
    return this.#cells > 0 ? plainTable(rows) : markdownTable(rows);
  }

  #cell(cell: Element): string {
    this.#cells++;
    const text = elements(cell)
      .flatMap((block) => this.blocks(block))
      .join('\n');
    this.#cells--;
    return text;
  }
}

/** Rows or cells, including those within content controls and the like. */
function wrapped(of: Element, name: string): Element[] {
  return elements(of).flatMap((child) =>
    child.name === name ? [child] : ['w:sdt', 'w:sdtContent', 'w:customXml', 'w:ins'].includes(child.name) ? wrapped(child, name) : [],
  );
}
