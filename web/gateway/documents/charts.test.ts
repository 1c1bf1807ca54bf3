import { expect } from 'vitest';
import { createDocx, toParagraphXml, createSlide } from '../../../tests/support/office-files.ts';
import { verifies } from '../../../tests/requirements.ts';
import type { DocumentRequest } from './document-reader.ts';
import { readDocument } from './read-document.ts';

const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';

const readText = async (kind: DocumentRequest['kind'], bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  (await readDocument({ kind, name: 'a file', bytes, limit: 500_000 }, new AbortController().signal)).text;

const pointsXml = (values: readonly (string | undefined)[]): string =>
  values.map((value, at) => (value === undefined ? '' : `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`)).join('');
const strings = (...values: (string | undefined)[]): string =>
  `<c:strRef><c:f>S!A1</c:f><c:strCache>${pointsXml(values)}</c:strCache></c:strRef>`;
const numbers = (code: string, ...values: (string | undefined)[]): string =>
  `<c:numRef><c:f>S!B1</c:f><c:numCache><c:formatCode>${code}</c:formatCode>${pointsXml(values)}</c:numCache></c:numRef>`;
const titleXml = (text: string): string => `<c:tx><c:rich><a:bodyPr/><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx>`;
const seriesXml = (order: number, name: string, inner: string): string =>
  `<c:ser><c:idx val="${order}"/><c:order val="${order}"/>${name === '' ? '' : `<c:tx>${strings(name)}</c:tx>`}${inner}</c:ser>`;
const chart = (title: string, plots: string): string =>
  `<c:chartSpace xmlns:c="${DRAWING}/chart" xmlns:a="${DRAWING}/main"><c:chart>${title === '' ? '' : `<c:title>${titleXml(title)}</c:title>`}<c:plotArea><c:layout/>${plots}<c:catAx><c:title>${titleXml('Axis')}</c:title></c:catAx></c:plotArea></c:chart></c:chartSpace>`;
const chartFrame = (id: string): string =>
  `<a:graphic><a:graphicData uri="${DRAWING}/chart"><c:chart xmlns:c="${DRAWING}/chart" r:id="${id}"/></a:graphicData></a:graphic>`;
const diagramFrame = (id: string): string =>
  `<a:graphic><a:graphicData uri="${DRAWING}/diagram"><dgm:relIds xmlns:dgm="${DRAWING}/diagram" r:dm="${id}" r:lo="x"/></a:graphicData></a:graphic>`;
const textXml = (content: string): string => `<p:sp><p:txBody><a:p><a:r><a:t>${content}</a:t></a:r></a:p></p:txBody></p:sp>`;
const frameXml = (graphic: string): string => `<p:graphicFrame>${graphic}</p:graphicFrame>`;
const chartPart = (xml: string, id = 'rId5') => ({ id, type: 'chart', path: `ppt/charts/${id}.xml`, xml });

const nodeXml = (id: string, content: string, type = ''): string =>
  `<dgm:pt modelId="${id}"${type && ` type="${type}"`}><dgm:prSet/><dgm:t><a:bodyPr/><a:p><a:r><a:t>${content}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
const linkXml = (from: string, to: string, order: number, type = ''): string =>
  `<dgm:cxn modelId="${from}${to}"${type && ` type="${type}"`} srcId="${from}" destId="${to}" srcOrd="${order}" destOrd="0"/>`;
const diagram = (nodes: string, links: string) => ({
  id: 'rId6',
  type: 'diagramData',
  path: 'ppt/diagrams/data1.xml',
  xml: `<dgm:dataModel xmlns:dgm="${DRAWING}/diagram" xmlns:a="${DRAWING}/main"><dgm:ptLst>${nodes}</dgm:ptLst><dgm:cxnLst>${links}</dgm:cxnLst></dgm:dataModel>`,
});
const TREE = diagram(
  [
    nodeXml('4', 'Build'),
    nodeXml('0', '', 'doc'),
    nodeXml('1', 'Plan'),
    nodeXml('2', 'Ask'),
    nodeXml('3', 'Draw'),
    nodeXml('5', 'between', 'sibTrans'),
    nodeXml('6', 'drawn', 'pres'),
  ].join(''),
  [linkXml('0', '4', 1), linkXml('1', '3', 1), linkXml('1', '2', 0), linkXml('0', '1', 0), linkXml('1', '6', 0, 'presOf')].join(''),
);

const SALES = chart(
  'Sales',
  `<c:lineChart>${seriesXml(1, 'Share', `<c:cat>${strings('Q1', 'Q2')}</c:cat><c:val>${numbers('0%', '0.25', undefined)}</c:val>`)}</c:lineChart><c:barChart>${seriesXml(0, 'EUR | net', `<c:cat>${strings('Q1', 'Q2')}</c:cat><c:val>${numbers('General', '4.2999999999999998', '1200')}</c:val>`)}</c:barChart>`,
);
const SALES_TEXT = 'Chart: Sales\n\n|  | EUR \\| net | Share |\n| --- | --- | --- |\n| Q1 | 4.3 | 25% |\n| Q2 | 1200 |  |';

verifies('office/pptx', 'charts as tables and diagrams as lists, where they stand on the slide', async () => {
  const file = await createSlide(
    [
      textXml('Before'),
      frameXml(chartFrame('rId5')),
      textXml('Between'),
      `<p:grpSp>${frameXml(diagramFrame('rId6'))}</p:grpSp>`,
      textXml('After'),
    ].join(''),
    [chartPart(SALES), TREE],
  );
  expect(await readText('pptx', file)).toBe(
    ['## Slide 1', 'Before', SALES_TEXT, 'Between', 'Diagram:\n- Plan\n  - Ask\n  - Draw\n- Build', 'After'].join('\n\n'),
  );
});

verifies('office/docx', 'charts and diagrams after the paragraph that they hang on, and as lines within a cell', async () => {
  const drawing = (graphic: string): string =>
    `<w:r><w:drawing><wp:inline xmlns:a="${DRAWING}/main">${graphic}</wp:inline></w:drawing></w:r>`;
  const body = [
    toParagraphXml(`<w:r><w:t>Before</w:t></w:r>${drawing(chartFrame('rId5'))}`),
    toParagraphXml(drawing(diagramFrame('rId6'))),
    `<w:tbl><w:tr><w:tc>${toParagraphXml(drawing(chartFrame('rId7')))}</w:tc></w:tr></w:tbl>`,
  ].join('');
  const written = await readText('docx', await createDocx(body, [chartPart(SALES), TREE, chartPart(SALES, 'rId7')]));
  expect(written).toBe(
    [
      'Before',
      SALES_TEXT,
      'Diagram:\n- Plan\n  - Ask\n  - Draw\n- Build',
      '| Chart: Sales<br>EUR \\| net\tShare<br>Q1\t4.3\t25%<br>Q2\t1200 |\n| --- |',
      '[^2]: Said in May.',
    ].join('\n\n'),
  );
});

verifies('office/pptx', 'categories within categories, dates, points in the plane, and series over other categories', async () => {
  const levels = (...of: (string | undefined)[][]): string =>
    `<c:multiLvlStrRef><c:multiLvlStrCache>${of.map((level) => `<c:lvl>${pointsXml(level)}</c:lvl>`).join('')}</c:multiLvlStrCache></c:multiLvlStrRef>`;
  const plots = [
    `<c:barChart>${seriesXml(0, '', `<c:cat>${levels(['Q1', 'Q2', 'Q1'], ['2024', undefined, '2025'])}</c:cat><c:val><c:numLit>${pointsXml(['1', '2', '3'])}</c:numLit></c:val>`)}${seriesXml(1, 'Same', `<c:val>${numbers('General', '7', '8', '9')}</c:val>`)}</c:barChart>`,
    `<c:bubbleChart>${seriesXml(2, 'Seen', `<c:xVal>${numbers('yyyy\\-mm\\-dd', '45000')}</c:xVal><c:yVal>${numbers('General', '5')}</c:yVal><c:bubbleSize>${numbers('General', '12')}</c:bubbleSize>`)}</c:bubbleChart>`,
  ].join('');
  expect(await readText('pptx', await createSlide(frameXml(chartFrame('rId5')), [chartPart(chart('', plots))]))).toBe(
    [
      '## Slide 1',
      'Chart:',
      '|  | Series 1 | Same |\n| --- | --- | --- |\n| 2024 / Q1 | 1 | 7 |\n| 2024 / Q2 | 2 | 8 |\n| 2025 / Q1 | 3 | 9 |',
      '|  | Seen | Seen (size) |\n| --- | --- | --- |\n| 2023-03-15 | 5 | 12 |',
    ].join('\n\n'),
  );
});

verifies('office/bombs', 'a chart whose points are strewn, and a diagram that leads in circles', async () => {
  const strewn = Array.from({ length: 1000 }, (_, at) =>
    seriesXml(at, `S${at}`, `<c:val><c:numLit><c:pt idx="${at * 1_000_000}"><c:v>1</c:v></c:pt></c:numLit></c:val>`),
  );
  const circle = diagram(
    [nodeXml('1', 'One'), nodeXml('2', 'Two'), nodeXml('3', 'Three')].join(''),
    [linkXml('1', '2', 0), linkXml('2', '3', 0), linkXml('3', '2', 1)].join(''),
  );
  const file = await createSlide([frameXml(chartFrame('rId5')), frameXml(diagramFrame('rId6'))].join(''), [
    chartPart(chart('', `<c:barChart>${strewn.join('')}</c:barChart>`)),
    circle,
  ]);
  const written = await readText('pptx', file);
  expect(written.length).toBeLessThan(200_000);
  expect(written).toContain('(981 more rows omitted)');
  expect(written).toMatch(/Diagram:\n- One\n {2}- Two\n {4}- Three$/);
});
