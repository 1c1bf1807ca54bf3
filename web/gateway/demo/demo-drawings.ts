import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import type { GatewayClient } from '#shared/client/client.ts';

const RED = '#d92d20';

function drawLakeMap(): Drawing {
  const drawing = new Drawing({ width: 1000, height: 640, background: '#fbfaf5' });
  const editor = new Editor(drawing);
  editor.add('ellipse', { cx: 500, cy: 330, rx: 420, ry: 230, color: '#bcd9e4', fill: true });
  editor.add('ellipse', { cx: 590, cy: 310, rx: 120, ry: 70, color: '#a9c28b', fill: true });
  editor.add('ellipse', { cx: 150, cy: 370, rx: 60, ry: 110, color: '#d8c98a', fill: true, opacity: 0.9 });
  editor.add('text', { x: 510, y: 298, text: 'The island', size: 22, color: '#2f3d20' });
  editor.add('text', { x: 100, y: 250, text: 'Reeds', size: 20, color: '#5b4a16' });
  editor.add('text', { x: 490, y: 36, text: 'North shore', size: 22, color: '#1d2b28' });
  editor.add('arrow', { x1: 468, y1: 76, x2: 560, y2: 240, color: '#1f5f54', strokeWidth: 4 });
  editor.add('marker', { x: 460, y: 48, label: '1', note: 'Count from here. The scope stands on the flat stone.', size: 34, color: RED });
  editor.add('marker', { x: 660, y: 312, label: '2', note: '14 heron nests, all in the old alders.', size: 34, color: RED });
  editor.add('marker', { x: 150, y: 380, label: '3', note: 'Second bittern, heard on four mornings.', size: 34, color: RED });
  editor.add('callout', {
    x: 690,
    y: 480,
    width: 230,
    height: 80,
    tipX: 660,
    tipY: 370,
    text: 'No landing from March to July',
    size: 18,
    color: '#7a3b14',
    background: '#fff3e0',
  });
  return drawing;
}

function annotateScreenshot(src: string): Drawing {
  const drawing = new Drawing({ width: 1280, height: 800, background: null });
  const editor = new Editor(drawing);
  editor.add('image', { x: 0, y: 0, width: 1280, height: 800, src });
  editor.add('rect', { x: 236, y: 506, width: 230, height: 50, color: RED, fill: false, strokeWidth: 4, radius: 8 });
  editor.add('marker', { x: 500, y: 530, label: '1', note: 'The rows add up to 18.', size: 36, color: RED });
  editor.add('arrow', { x1: 700, y1: 560, x2: 560, y2: 350, color: RED, strokeWidth: 5 });
  editor.add('marker', { x: 720, y: 580, label: '2', note: 'Add a column with last year’s numbers.', size: 36, color: RED });
  editor.add('redaction', { x: 226, y: 566, width: 140, height: 34, color: '#1d2b28' });
  return drawing;
}

/** Adds two drawings with numbered markers. `screenshot`: a PNG as a data URL, if one could be drawn. */
export async function seedDrawings(client: GatewayClient, screenshot?: string): Promise<void> {
  const { drawings } = await client.call('drawings.list', {});
  const add = async (title: string, drawing: Drawing): Promise<void> => {
    if (drawings.some((existing) => existing.title === title)) return;
    const { width, height, background } = drawing.page;
    await client.call('drawings.create', { title, width, height, background, changes: drawing.history() });
  };
  if (screenshot !== undefined) await add('Lake page, to correct', annotateScreenshot(screenshot));
  await add('Where the nests are', drawLakeMap());
}
