import { chartText } from './charts.ts';
import { diagramText } from './diagrams.ts';
import type { DecodedRequest, DocumentText } from './documents.ts';
import { paragraphs } from './drawing-text.ts';
import { numbersIn, numbersText } from './numbers.ts';
import { OfficePackage } from './office-package.ts';
import { PageParts } from './page-parts.ts';
import { markdownTable } from './table.ts';
import { type Element, element, elements } from './xml-tree.ts';

/** Reads a presentation slide by slide: title, text, tables, charts, diagrams, picture descriptions, and the speaker's notes. */
export async function readPptx(request: DecodedRequest, signal: AbortSignal): Promise<DocumentText> {
  const { name, bytes } = request;
  const parts = await OfficePackage.open(name, bytes, signal);
  const { path: main, root } = await parts.main('ppt/presentation.xml', 'p:presentation');
  const relations = await parts.relations(main);
  const ids = elements(element(root, 'p:sldIdLst'), 'p:sldId');
  const slides = ids.flatMap(({ attributes }) => relations.get(attributes['r:id'] ?? '')?.target ?? []);
  const wanted = slides.length === 0 ? [] : numbersIn(request.pages, slides.length, 'slide');
  const taken = new PageParts(wanted, request);
  for (const number of wanted) if (!taken.add(await slideText(parts, slides[number - 1] ?? '', number))) break;
  const { text, shown, next } = taken;
  return { part: `slides ${numbersText(shown) || 'none'} of ${slides.length}`, text, ...(next ? { next } : {}) };
}

async function slideText(parts: OfficePackage, path: string, number: number): Promise<string> {
  const slide = await parts.tree(path);
  const shapes = elements(element(slide, 'p:cSld', 'p:spTree')).flatMap(leaves);
  const title = shapes.find((shape) => /^(title|ctrTitle)$/.test(placeholder(shape) ?? ''));
  const hidden = slide?.attributes['show'] === '0' ? ' (hidden)' : '';
  const heading = title ? `: ${paragraphs(element(title, 'p:txBody')).join(' ').trim()}` : '';
  const blocks = [`## Slide ${number}${hidden}${heading}`];
  const relations = await parts.relations(path);
  const related = async (id: string | undefined): Promise<Element | undefined> => parts.tree(relations.get(id ?? '')?.target ?? '');
  for (const shape of shapes) if (shape !== title) blocks.push(await shapeText(shape, related));
  const notes = [...relations.values()].find(({ type }) => type === 'notesSlide');
  if (notes) {
    const noted = elements(element(await parts.tree(notes.target), 'p:cSld', 'p:spTree')).flatMap(leaves);
    const spoken = noted.filter((shape) => placeholder(shape) === 'body').flatMap((shape) => paragraphs(element(shape, 'p:txBody')));
    if (spoken.join('').trim() !== '') blocks.push(`Notes: ${spoken.join('\n').trim()}`);
  }
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Flattens groups to their shapes. */
function leaves(shape: Element): Element[] {
  if (shape.name === 'p:grpSp') return elements(shape).flatMap(leaves);
  if (shape.name === 'mc:AlternateContent') return elements(element(shape, 'mc:Choice')).flatMap(leaves);
  return [shape];
}

/** Placeholder type of a shape: `title`, `body`, `sldNum`, … */
function placeholder(shape: Element): string | undefined {
  const found = element(shape, 'p:nvSpPr', 'p:nvPr', 'p:ph');
  return found && (found.attributes['type'] ?? 'body');
}

/** `related`: resolves a relationship id of the slide to its part. */
async function shapeText(shape: Element, related: (id: string | undefined) => Promise<Element | undefined>): Promise<string> {
  switch (shape.name) {
    case 'p:sp':
      // Numbers, dates and footers are the same on every slide.
      if (/^(sldNum|dt|ftr|hdr)$/.test(placeholder(shape) ?? '')) return '';
      return paragraphs(element(shape, 'p:txBody')).join('\n').trim();
    case 'p:pic': {
      const said = element(shape, 'p:nvPicPr', 'p:cNvPr')?.attributes['descr'];
      return said ? `[Picture: ${said}]` : '';
    }
    case 'p:graphicFrame': {
      const drawn = element(shape, 'a:graphic', 'a:graphicData');
      const [chart, diagram] = [element(drawn, 'c:chart'), element(drawn, 'dgm:relIds')];
      if (chart) return chartText(await related(chart.attributes['r:id']), markdownTable);
      if (diagram) return diagramText(await related(diagram.attributes['r:dm']));
      return markdownTable(
        elements(element(drawn, 'a:tbl'), 'a:tr').map((row) =>
          elements(row, 'a:tc').map((cell) => paragraphs(element(cell, 'a:txBody')).join('\n')),
        ),
      );
    }
    default:
      return '';
  }
}
