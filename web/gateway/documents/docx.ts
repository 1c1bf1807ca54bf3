import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { formatChart } from './charts.ts';
import { paginateText } from './paginate-text.ts';
import { formatDiagram } from './diagrams.ts';
import type { DecodedRequest, DocumentText } from './document-reader.ts';
import { DocxStyles } from './docx-styles.ts';
import { toLatex } from './equations.ts';
import { OfficePackage } from './office-package.ts';
import { toMarkdownTable, toPlainTable } from './markdown-table.ts';
import { type XmlElement, findElement, getChildren, getText } from './xml-tree.ts';

/**
 * Reads a word-processor file as Markdown: headings, lists, tables, charts, diagrams, links, headers and footers, and footnotes, endnotes
 * and comments at the end. Tracked deletions are left out.
 */
export async function readDocx({ name, bytes, offset = 0, limit }: DecodedRequest, signal: AbortSignal): Promise<DocumentText> {
  const parts = await OfficePackage.open(name, bytes, signal);
  const { path: main, root } = await parts.readMain('word/document.xml', 'w:document');
  const relations = [...(await parts.readRelations(main)).values()];
  const readRelated = async (type: string): Promise<XmlElement | undefined> => {
    const found = relations.find((relation) => relation.type === type);
    return found && parts.readTree(found.target);
  };
  const styles = new DocxStyles(await readRelated('styles'), await readRelated('numbering'));
  const slicer = new TimeSlicer(signal);
  const readBlocks = async (path: string, nodes: readonly XmlElement[]): Promise<string[][]> => {
    const writer = await DocxWriter.create(parts, path, styles);
    const found: string[][] = [];
    for (const block of nodes) {
      const blocks = writer.toBlocks(block);
      found.push(blocks);
      // A paragraph's XML is several times as long as its text.
      await slicer.after(200 + 5 * (blocks.at(-1)?.length ?? 0));
    }
    return found;
  };
  const readMargin = async (type: 'header' | 'footer'): Promise<string[]> => {
    const texts = new Set<string>();
    for (const { target } of relations.filter((relation) => relation.type === type))
      texts.add((await readBlocks(target, getChildren(await parts.readTree(target)))).flat().join('\n'));
    // Skip headers and footers without letters, such as page numbers.
    return [...texts].filter((text) => /\p{L}/u.test(text)).map((text) => `${type === 'header' ? 'Header' : 'Footer'}: ${text}`);
  };
  const blocks = [
    ...(await readMargin('header')),
    ...(await readBlocks(main, getChildren(findElement(root, 'w:body')))).flat(),
    ...(await readMargin('footer')),
  ];
  for (const [mark, type] of NOTE_TYPES) {
    const path = relations.find((relation) => relation.type === type)?.target ?? '';
    // The first two are the separators between text and notes.
    const notes = getChildren(await parts.readTree(path)).filter(
      ({ attributes }) => attributes['w:id'] && attributes['w:type'] === undefined,
    );
    for (const note of notes) {
      const author = type === 'comments' ? `Comment by ${note.attributes['w:author'] || 'an unnamed author'}: ` : '';
      const text = (await readBlocks(path, getChildren(note))).flat().join(' ');
      if (text !== '') blocks.push(`[^${mark}${note.attributes['w:id']}]: ${author}${text}`);
    }
  }
  const title = findElement(await parts.readTree('docProps/core.xml'), 'dc:title');
  return {
    ...(title && getText(title).trim() !== '' ? { title: getText(title).trim() } : {}),
    ...paginateText(joinBlocks(blocks), offset, limit),
  };
}

/** Parts with notes, and the prefix of their numbers in the text. */
const NOTE_TYPES = [
  ['', 'footnotes'],
  ['e', 'endnotes'],
  ['c', 'comments'],
] as const;

/** Text of a drawing by relationship id; `table` formats its tables. */
type DrawingFormatters = Map<string, (table: typeof toMarkdownTable) => string>;

async function readDrawings(
  parts: OfficePackage,
  relations: Awaited<ReturnType<OfficePackage['readRelations']>>,
): Promise<DrawingFormatters> {
  const found: DrawingFormatters = new Map();
  for (const [id, { type, target }] of relations) {
    if (type !== 'chart' && type !== 'diagramData') continue;
    const tree = await parts.readTree(target);
    found.set(id, (table) => (type === 'chart' ? formatChart(tree, table) : formatDiagram(tree)));
  }
  return found;
}

/** Joins list items by line breaks, everything else by empty lines. */
function joinBlocks(blocks: readonly string[]): string {
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
const SKIPPED_ELEMENTS = new Set([
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
const MAX_SPANNED_COLUMNS = 100;

class DocxWriter {
  readonly #styles: DocxStyles;
  readonly #targets: ReadonlyMap<string, string>;
  readonly #drawings: DrawingFormatters;
  /** Nesting depth of table cells. */
  #cellDepth = 0;

  private constructor(styles: DocxStyles, targets: ReadonlyMap<string, string>, drawings: DrawingFormatters) {
    this.#styles = styles;
    this.#targets = targets;
    this.#drawings = drawings;
  }

  /** Creates a writer for the text of one part, with its relationships. */
  static async create(parts: OfficePackage, path: string, styles: DocxStyles): Promise<DocxWriter> {
    const relations = await parts.readRelations(path);
    return new DocxWriter(styles, new Map([...relations].map(([id, { target }]) => [id, target])), await readDrawings(parts, relations));
  }

  /** A paragraph, a table, or the content of a wrapper. */
  toBlocks(block: XmlElement): string[] {
    if (SKIPPED_ELEMENTS.has(block.name)) return [];
    if (block.name === 'w:p') return this.#formatParagraph(block);
    if (block.name === 'w:tbl') return [this.#formatTable(block)];
    return getChildren(block).flatMap((child) => this.toBlocks(child));
  }

  #formatParagraph(paragraph: XmlElement): string[] {
    // Text boxes come after the paragraph that they are anchored to.
    const boxes: string[] = [];
    const text = this.#formatInline(paragraph, boxes).trim();
    if (text === '') return boxes;
    const { heading, list } = this.#styles.getRole(paragraph);
    if (heading !== undefined) return [`${'#'.repeat(heading)} ${text.replaceAll('\n', ' ')}`, ...boxes];
    if (list) return [`${'  '.repeat(list.level)}${list.mark} ${text.replaceAll('\n', `\n${'  '.repeat(list.level + 1)}`)}`, ...boxes];
    return [text, ...boxes];
  }

  #formatInline(parent: XmlElement, boxes: string[]): string {
    let text = '';
    for (const child of getChildren(parent)) text += this.#formatElement(child, boxes);
    return text;
  }

  #formatElement(child: XmlElement, boxes: string[]): string {
    if (SKIPPED_ELEMENTS.has(child.name)) return '';
    switch (child.name) {
      case 'w:t':
        return getText(child);
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
        const text = this.#formatInline(child, boxes);
        const target = this.#targets.get(child.attributes['r:id'] ?? '');
        return target !== undefined && /^(https?|mailto):/i.test(target) && target !== text ? `[${text}](${target})` : text;
      }
      case 'wp:docPr':
        return child.attributes['descr'] ? `[Picture: ${child.attributes['descr']}]` : '';
      case 'w:sym':
        return SYMBOLS[child.attributes['w:char']?.toUpperCase() ?? ''] ?? '\uFFFD';
      case 'm:oMathPara':
        return getChildren(child, 'm:oMath')
          .map((equation) => `$$${toLatex(equation)}$$`)
          .join('\n');
      case 'm:oMath':
        return `$${toLatex(child)}$`;
      case 'c:chart':
      case 'dgm:relIds': {
        const id = child.attributes[child.name === 'c:chart' ? 'r:id' : 'r:dm'] ?? '';
        const drawing = this.#drawings.get(id);
        if (drawing) boxes.push(drawing(this.#cellDepth > 0 ? toPlainTable : toMarkdownTable));
        // Each drawing is written once, since a hostile file can refer to it a million times.
        this.#drawings.delete(id);
        return '';
      }
      case 'w:txbxContent':
        boxes.push(...getChildren(child).flatMap((block) => this.toBlocks(block)));
        return '';
      default:
        return this.#formatInline(child, boxes);
    }
  }

  #formatTable(table: XmlElement): string {
    const rows: string[][] = [];
    for (const row of findWrapped(table, 'w:tr')) {
      const cells: string[] = [];
      for (const cell of findWrapped(row, 'w:tc')) {
        const properties = findElement(cell, 'w:tcPr');
        const merged = findElement(properties, 'w:vMerge');
        // A cell merged with the one above has no content of its own.
        const isContinued = merged !== undefined && merged.attributes['w:val'] !== 'restart';
        cells.push(isContinued ? '' : this.#formatCell(cell));
        const span = Math.min(MAX_SPANNED_COLUMNS - cells.length, Number(findElement(properties, 'w:gridSpan')?.attributes['w:val'] ?? 1));
        for (let column = 1; column < span; column++) cells.push('');
      }
      rows.push(cells);
    }
    return this.#cellDepth > 0 ? toPlainTable(rows) : toMarkdownTable(rows);
  }

  #formatCell(cell: XmlElement): string {
    this.#cellDepth++;
    const text = getChildren(cell)
      .flatMap((block) => this.toBlocks(block))
      .join('\n');
    this.#cellDepth--;
    return text;
  }
}

/** Rows or cells, including those within content controls and the like. */
function findWrapped(parent: XmlElement, name: string): XmlElement[] {
  return getChildren(parent).flatMap((child) =>
    child.name === name ? [child] : ['w:sdt', 'w:sdtContent', 'w:customXml', 'w:ins'].includes(child.name) ? findWrapped(child, name) : [],
  );
}
