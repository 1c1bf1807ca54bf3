import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { toBase64 } from '#shared/base64.ts';
import { Drawing } from '#shared/canvas/drawing.ts';
import { Editor } from '#shared/canvas/editor.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';
import { connectOutside } from './outside-client.ts';

verifies(
  ['drawings/tools', 'drawings/covered'],
  'an agent’s picture of a drawing, made in the worker, is solid where a redaction is',
  async () => {
    await using perch = await startPerch({ host: 'tab' });
    await using browser = await launchBrowser();
    const page = await browser.page(perch.linkUrl);
    await waitFor(async () => (await perch.fetch('/v1/models')).ok, 'a host', 30_000);
    using outside = await connectOutside(perch);
    // A picture of noise, as a screenshot: whatever shines through shows.
    const noise = await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(200, 100);
      const context = canvas.getContext('2d');
      if (!context) throw new Error('no context');
      const pixels = context.createImageData(200, 100);
      for (let at = 0; at < pixels.data.length; at++) pixels.data[at] = at % 4 === 3 ? 255 : (at * 7919) % 251;
      context.putImageData(pixels, 0, 0);
      const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
      return [...bytes];
    });
    const drawing = new Drawing({ width: 3136, height: 1568, background: '#ffffff' });
    const editor = new Editor(drawing);
    const src = `data:image/png;base64,${toBase64(new Uint8Array(noise))}`;
    editor.add('image', { x: 0, y: 0, width: 3136, height: 1568, src });
    editor.add('redaction', { x: 201, y: 101, width: 801, height: 401, color: '#00ff00' });
    const { id: drawingId } = await outside.client.call('drawings.create', { width: 3136, height: 1568, changes: drawing.history() });
    const { messageId } = await outside.client.call('chat.send', { message: `/tool canvas_capture {"drawingId":"${drawingId}"}` });
    const { messages } = await outside.client.call('chat.history', { sessionId: 'main' });
    expect(JSON.stringify(messages)).toContain('drawing.png');
    const file = await outside.client.call('chat.attachment', { sessionId: 'main', messageId, index: 0 });
    if (process.env.PERCH_SHOT) writeFileSync(`${process.env.PERCH_SHOT}.png`, Buffer.from(file.content, 'base64'));
    const seen = await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      if (!context) throw new Error('no context');
      context.drawImage(bitmap, 0, 0);
      const colors = (x: number, y: number, width: number, height: number): number =>
        new Set(new Uint32Array(context.getImageData(x, y, width, height).data.buffer)).size;
      const [first] = new Uint32Array(context.getImageData(300, 150, 1, 1).data.buffer);
      return { size: [bitmap.width, bitmap.height], first, covered: colors(100, 50, 401, 201), beside: colors(600, 300, 400, 200) };
    }, file.content);
    expect(seen).toMatchObject({ size: [1568, 784], first: 0xff00ff00, covered: 1 });
    expect(seen.beside).toBeGreaterThan(100);
    expect(browser.complaints).toEqual([]);
  },
  120_000,
);
