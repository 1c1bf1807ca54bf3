import { formatChart } from './charts.ts';
import { formatDiagram } from './diagrams.ts';
import type { DecodedRequest, DocumentText } from './document-reader.ts';
import { formatParagraphs } from './drawing-text.ts';
import { parseNumberRanges, formatNumberRanges } from './number-ranges.ts';
import { OfficePackage } from './office-package.ts';
import { PageCollector } from './page-collector.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { type XmlElement, findElement, getChildren } from './xml-tree.ts';

/** Reads a presentation slide by slide: title, text, tables, charts, diagrams, picture descriptions, and the speaker's notes. */
export async function readPptx(request: DecodedRequest, signal: AbortSignal): Promise<DocumentText> {
  const { count, readSlide } = await openSlides(request, signal);
  const slideNumbers = count === 0 ? [] : parseNumberRanges(request.pages, count, 'slide');
  const collector = new PageCollector(slideNumbers, request);
  for (const number of slideNumbers) if (!collector.add(await readSlide(number))) break;
  const { text, included, next } = collector;
  return { part: `slides ${formatNumberRanges(included) || 'none'} of ${count}`, text, ...(next ? { next } : {}) };
}

interface Slides {
  count: number;
  /** Text of a slide by its number, from 1; starts with a heading. */
  readSlide(number: number): Promise<string>;
}

export async function openSlides({ name, bytes }: Pick<DecodedRequest, 'name' | 'bytes'>, signal: AbortSignal): Promise<Slides> {
  const parts = await OfficePackage.open(name, bytes, signal);
  const { path: main, root } = await parts.readMain('ppt/presentation.xml', 'p:presentation');
  const relations = await parts.readRelations(main);
  const ids = getChildren(findElement(root, 'p:sldIdLst'), 'p:sldId');
  const slides = ids.flatMap(({ attributes }) => relations.get(attributes['r:id'] ?? '')?.target ?? []);
  return { count: slides.length, readSlide: (number) => formatSlide(parts, slides[number - 1] ?? '', number) };
}

async function formatSlide(parts: OfficePackage, path: string, number: number): Promise<string> {
  const slide = await parts.readTree(path);
  const shapes = getChildren(findElement(slide, 'p:cSld', 'p:spTree')).flatMap(flattenGroups);
  const title = shapes.find((shape) => /^(title|ctrTitle)$/.test(getPlaceholderType(shape) ?? ''));
  const hidden = slide?.attributes['show'] === '0' ? ' (hidden)' : '';
  const heading = title ? `: ${formatParagraphs(findElement(title, 'p:txBody')).join(' ').trim()}` : '';
  const blocks = [`## Slide ${number}${hidden}${heading}`];
  const relations = await parts.readRelations(path);
  const readRelated = async (id: string | undefined): Promise<XmlElement | undefined> =>
    parts.readTree(relations.get(id ?? '')?.target ?? '');
  for (const shape of shapes) if (shape !== title) blocks.push(await formatShape(shape, readRelated));
  const notes = [...relations.values()].find(({ type }) => type === 'notesSlide');
  if (notes) {
    const noteShapes = getChildren(findElement(await parts.readTree(notes.target), 'p:cSld', 'p:spTree')).flatMap(flattenGroups);
    const noteLines = noteShapes
      .filter((shape) => getPlaceholderType(shape) === 'body')
      .flatMap((shape) => formatParagraphs(findElement(shape, 'p:txBody')));
    if (noteLines.join('').trim() !== '') blocks.push(`Notes: ${noteLines.join('\n').trim()}`);
  }
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Flattens groups to their shapes. */
function flattenGroups(shape: XmlElement): XmlElement[] {
  if (shape.name === 'p:grpSp') return getChildren(shape).flatMap(flattenGroups);
  if (shape.name === 'mc:AlternateContent') return getChildren(findElement(shape, 'mc:Choice')).flatMap(flattenGroups);
  return [shape];
}

/** Placeholder type of a shape: `title`, `body`, `sldNum`, … */
function getPlaceholderType(shape: XmlElement): string | undefined {
  const found = findElement(shape, 'p:nvSpPr', 'p:nvPr', 'p:ph');
  return found && (found.attributes['type'] ?? 'body');
}

/** `readRelated`: resolves a relationship id of the slide to its part. */
async function formatShape(shape: XmlElement, readRelated: (id: string | undefined) => Promise<XmlElement | undefined>): Promise<string> {
  switch (shape.name) {
    case 'p:sp':
      // Numbers, dates and footers are the same on every slide.
      if (/^(sldNum|dt|ftr|hdr)$/.test(getPlaceholderType(shape) ?? '')) return '';
      return formatParagraphs(findElement(shape, 'p:txBody')).join('\n').trim();
    case 'p:pic': {
      const description = findElement(shape, 'p:nvPicPr', 'p:cNvPr')?.attributes['descr'];
      return description ? `[Picture: ${description}]` : '';
    }
    case 'p:graphicFrame': {
      const graphic = findElement(shape, 'a:graphic', 'a:graphicData');
      const [chart, diagram] = [findElement(graphic, 'c:chart'), findElement(graphic, 'dgm:relIds')];
      if (chart) return formatChart(await readRelated(chart.attributes['r:id']), toMarkdownTable);
      if (diagram) return formatDiagram(await readRelated(diagram.attributes['r:dm']));
      return toMarkdownTable(
        getChildren(findElement(graphic, 'a:tbl'), 'a:tr').map((row) =>
          getChildren(row, 'a:tc').map((cell) => formatParagraphs(findElement(cell, 'a:txBody')).join('\n')),
        ),
      );
    }
    default:
      return '';
  }
}
