import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { connectOutside } from './outside-client.ts';
import {
  useAnnotateFixture,
  openBlankSheet,
  chooseTool,
  exportDrawing,
  drag,
  getShapeKinds,
  openPage,
  openPanel,
  pressAt,
  titleField,
  waitForTools,
} from './annotate-page.ts';
import { createAnimatedGif, createNoisePng, readPixels, createRedBlueJpeg, withOrientation, createWhitePng } from './test-pictures.ts';

describe('importing into a drawing and exporting it', () => {
  const all = useAnnotateFixture();

  verifies('annotate/sources', 'files, turned and huge ones, those that are none, paste, drop, camera and screen', async () => {
    const page = await openPage(all.at, '/annotate');
    const file = page.locator('[data-source=file]');
    const jpeg = withOrientation(await createRedBlueJpeg(page));
    await file.setInputFiles({ name: 'upright.jpg', mimeType: 'image/jpeg', buffer: jpeg });
    await waitForTools(page);
    const upright = await exportDrawing(page, 'PNG');
    expect(upright.name).toBe('upright.png');
    const { size, colors } = await readPixels(page, upright.bytes, [
      [40, 20],
      [40, 100],
    ]);
    expect(size).toEqual([80, 120]);
    expect(colors.map((color) => color.slice(1))).toEqual([expect.stringMatching(/^f[a-f0-9]0/), expect.stringMatching(/f[a-f0-9]$/)]);

    await page.goto(`${all.at.perch.url}/annotate`);
    await file.setInputFiles({ name: 'huge.png', mimeType: 'image/png', buffer: createWhitePng(12_000, 9_000) });
    await page.getByText(/huge\.png was resized from 12,000 × 9,000 to 4,\d{3} × 3,\d{3} pixels\./).waitFor({ timeout: 60_000 });
    await waitForTools(page);

    await page.goto(`${all.at.perch.url}/annotate`);
    await file.setInputFiles({ name: 'wink.gif', mimeType: 'image/gif', buffer: createAnimatedGif });
    await page.getByText('wink.gif is animated. Only its first frame is used.').waitFor();
    await waitForTools(page);
    const first = await readPixels(page, (await exportDrawing(page, 'PNG')).bytes, [[0, 0]]);
    expect(first).toEqual({ size: [2, 2], colors: ['#ff0000'] });

    await page.goto(`${all.at.perch.url}/annotate`);
    await file.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
    await page
      .getByRole('alert')
      .getByText(/Couldn’t open notes\.txt \(text\/plain\)/)
      .waitFor();
    await file.setInputFiles({
      name: 'bad.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    });
    await page
      .getByRole('alert')
      .getByText(/bad\.svg is an SVG/)
      .waitFor();

    const give = (type: 'drop' | 'paste'): Promise<void> =>
      page.evaluate(
        ({ base64, type: kind }) => {
          const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))], `${kind}.png`, { type: 'image/png' }));
          const event =
            kind === 'drop'
              ? new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
              : new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
          (document.querySelector('main h1') ?? document.body).dispatchEvent(event);
        },
        { base64: createWhitePng(64, 48).toString('base64'), type },
      );
    for (const type of ['drop', 'paste'] as const) {
      await page.goto(`${all.at.perch.url}/annotate`);
      await page.getByRole('button', { name: 'Blank canvas' }).waitFor();
      await give(type);
      await waitFor(async () => (await titleField(page).inputValue()) === type, `what was given by ${type}`);
    }
    // Onto a drawing that is open.
    await give('drop');
    await waitFor(async () => (await getShapeKinds(all.at, page)).filter((kind) => kind === 'image').length === 2, 'the second picture');

    await page.goto(`${all.at.perch.url}/annotate`);
    await page.getByRole('button', { name: 'Camera' }).click();
    await page.getByRole('button', { name: 'Take photo' }).click();
    await waitFor(async () => (await titleField(page).inputValue()) === 'Photo', 'the photograph');
    await page.goto(`${all.at.perch.url}/annotate`);
    await page.getByRole('button', { name: 'Capture window or screen' }).click();
    await waitFor(async () => (await titleField(page).inputValue()) === 'Screenshot', 'the screen');
    expect(await getShapeKinds(all.at, page)).toEqual(['image']);
    await page.close();
  });

  verifies(
    'annotate/export',
    'redactions are burned into pixels and vectors, and JSON warns that it contains the hidden content',
    async () => {
      const page = await openPage(all.at, '/annotate');
      const file = page.locator('[data-source=file]');
      await file.setInputFiles({ name: 'secret.jpg', mimeType: 'image/jpeg', buffer: await createRedBlueJpeg(page) });
      await chooseTool(page, 'Redact');
      await drag(page, [0.01, 0.01], [0.99, 0.99]);
      await page.getByRole('button', { name: 'Layers and notes' }).waitFor();
      await waitFor(async () => (await getShapeKinds(all.at, page)).includes('redaction'), 'the redaction');
      for (const [name, ending] of [
        ['PNG', 'png'],
        ['JPEG', 'jpg'],
      ] as const) {
        const got = await exportDrawing(page, name);
        expect(got.name).toBe(`secret.${ending}`);
        const { colors } = await readPixels(page, got.bytes, [
          [30, 40],
          [90, 40],
        ]);
        expect(colors).toEqual(['#000000', '#000000']);
      }
      const picture = (text: string): string[] => text.match(/data:image\/\w+;base64,[A-Za-z0-9+/=]+/g) ?? [];
      const svg = (await exportDrawing(page, 'SVG')).bytes.toString();
      expect(svg).toMatch(/^<svg /);
      for (const each of picture(svg)) {
        const { colors } = await readPixels(page, Buffer.from(each.split(',')[1] ?? '', 'base64'), [[30, 40]]);
        expect(colors).toEqual(['#000000']);
      }
      // The canvas has small buttons where it is narrow; the question has its words.
      await page.setViewportSize({ width: 360, height: 740 });
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('menuitem', { name: 'Editable drawing (JSON)' }).click();
      const warning = page.getByRole('dialog', { name: 'This file includes redacted content' });
      const anyway = warning.getByRole('button', { name: 'Export anyway' });
      expect(await anyway.evaluate((button) => button.scrollWidth <= button.clientWidth)).toBe(true);
      const [got] = await Promise.all([page.waitForEvent('download'), anyway.click()]);
      const json = readFileSync(await got.path(), 'utf8');
      expect(picture(json)).toHaveLength(1);
      await page.setViewportSize({ width: 1280, height: 800 });

      await page.goto(`${all.at.perch.url}/annotate`);
      await file.setInputFiles({ name: got.suggestedFilename(), mimeType: 'application/json', buffer: Buffer.from(json) });
      await waitFor(async () => (await titleField(page).inputValue()) === 'secret', 'the drawing of the file');
      expect((await getShapeKinds(all.at, page)).sort()).toEqual(['image', 'redaction']);
      // Others may have made the file.
      using outside = await connectOutside(all.at.perch);
      const { items } = await outside.client.call('review.list', {});
      expect(items.map(({ kind, sources }) => [kind, sources])).toEqual([['drawing', [`document:${got.suggestedFilename()}`]]]);
      await page.goto(`${all.at.perch.url}/annotate`);
      await file.setInputFiles({ name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{}') });
      await page
        .getByRole('alert')
        .getByText(/other\.json: The file is not a Perch drawing./)
        .waitFor();

      await page.getByRole('link', { name: 'secret' }).first().click();
      await waitForTools(page);
      await page.keyboard.press('Shift+Alt+C');
      await page.getByText('Picture copied').waitFor();
      expect(await page.evaluate(async () => (await navigator.clipboard.read()).flatMap(({ types }) => types))).toEqual(['image/png']);
      await page.close();
    },
  );

  verifies(
    'annotate/damaged',
    'text, nothing, half a PNG, an SVG, no pixels; drawings that are broken, or of a later version',
    async () => {
      const page = await openPage(all.at, '/annotate');
      const before = (await all.at.outside.client.call('drawings.list', {})).count;
      const noise = await createNoisePng(page);
      const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "run"</script></svg>';
      const drawing = { format: 'perch-drawing', version: 2, page: { kind: 'page', x: 0, y: 0, width: 10, height: 10, background: null } };
      const none = /Couldn’t open/;
      const cases: [name: string, type: string, content: string | Buffer, told: RegExp][] = [
        ['text.png', 'image/png', 'only text', none],
        ['empty.png', 'image/png', '', /empty\.png is empty/],
        ['half.png', 'image/png', noise.subarray(0, 40), none],
        ['script.svg', 'image/svg+xml', svg, /is an SVG/],
        ['disguised.png', 'image/png', svg, none],
        ['nothing.png', 'image/png', createWhitePng(0, 0), none],
        ['broken.json', 'application/json', '{"format":', /not valid JSON/],
        [
          'later.json',
          'application/json',
          JSON.stringify({ ...drawing, version: 99, shapes: [] }),
          /has version 99, but this version of Perch supports up to/,
        ],
        [
          'odd.json',
          'application/json',
          JSON.stringify({ ...drawing, shapes: [{ kind: 'rect', id: 'a', x: 'left' }] }),
          /is damaged: shapes/,
        ],
      ];
      for (const [name, mimeType, content, reason] of cases) {
        await page.locator('[data-source=file]').setInputFiles({ name, mimeType, buffer: Buffer.from(content) });
        await page.getByRole('alert').filter({ hasText: name }).filter({ hasText: reason }).waitFor();
      }
      expect(await page.title()).toBe('Annotate · Perch');
      expect((await all.at.outside.client.call('drawings.list', {})).count).toBe(before);
      // Beside them what is whole is made, and the rest is still told.
      await page.locator('[data-source=file]').setInputFiles([
        { name: 'text.png', mimeType: 'image/png', buffer: Buffer.from('only text') },
        { name: 'whole.png', mimeType: 'image/png', buffer: noise },
      ]);
      await page.getByRole('link', { name: 'whole' }).waitFor();
      await page.getByRole('alert').getByText(none).waitFor();
      await page.close();
    },
  );

  verifies('annotate/share', 'with its notes, also after a cancel or a failure; not offered without a chat', async () => {
    const page = await openBlankSheet(all.at);
    await page.getByRole('button', { name: 'Export' }).click();
    expect(await page.getByRole('menuitem', { name: 'Share…' }).count()).toBe(0);
    const path = new URL(page.url()).pathname;
    // The sheet itself is the system's; what it is given is recorded here.
    await page.addInitScript(() => {
      const given: unknown[] = [];
      Object.assign(globalThis, { given, fails: '' });
      Object.assign(navigator, {
        canShare: (data: ShareData) => data.files?.every(({ type }) => type === 'image/png') ?? false,
        share: async ({ files, text }: ShareData) => {
          const name = Reflect.get(globalThis, 'fails') as string;
          if (name !== '') throw new DOMException('no', name);
          const [file] = files ?? [];
          const bitmap = file && (await createImageBitmap(file));
          given.push([file?.name, file?.type, bitmap?.width, bitmap?.height, text]);
        },
      });
    });
    await page.goto(all.at.perch.url + path);
    await chooseTool(page, 'Numbered marker');
    await pressAt(page, [0.4, 0.4]);
    await openPanel(page, 'Notes');
    await page.getByLabel('Note for marker 1').fill('Look');
    const share = async (fails: string): Promise<void> => {
      await page.evaluate((name) => Object.assign(globalThis, { fails: name }), fails);
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('menuitem', { name: 'Share…' }).click();
      await page.getByRole('button', { name: 'Export', disabled: false }).waitFor();
    };
    await share('');
    await share('AbortError');
    expect(await page.getByRole('alert').count()).toBe(0);
    await share('DataError');
    await page
      .getByRole('alert')
      .getByText(/share the picture/)
      .waitFor();
    expect(await page.evaluate('given')).toEqual([
      ['Drawing.png', 'image/png', 1600, 1000, 'Notes for the picture “Drawing” (the numbers are marked in it):\n1. Look'],
    ]);
    await page.close();
  });
});
