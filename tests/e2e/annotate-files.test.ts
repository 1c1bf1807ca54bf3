import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { annotated, choose, download, drag, kindsOf, openPage, titleField } from './annotate-page.ts';
import { pixelsOf, redBlueJpeg, turned, whitePng } from './pictures.ts';

describe('what comes into a drawing, and what leaves it', () => {
  const all = annotated();

  verifies('annotate/sources', 'files, turned and huge ones, those that are none, paste, drop, camera and screen', async () => {
    const page = await openPage(all.at, '/annotate');
    const file = page.locator('[data-source=file]');
    const jpeg = turned(await redBlueJpeg(page));
    await file.setInputFiles({ name: 'upright.jpg', mimeType: 'image/jpeg', buffer: jpeg });
    await page.getByRole('radio', { name: 'Pen' }).waitFor();
    const upright = await download(page, 'PNG');
    expect(upright.name).toBe('upright.png');
    const { size, colors } = await pixelsOf(page, upright.bytes, [
      [40, 20],
      [40, 100],
    ]);
    expect(size).toEqual([80, 120]);
    expect(colors.map((color) => color.slice(1))).toEqual([expect.stringMatching(/^f[a-f0-9]0/), expect.stringMatching(/f[a-f0-9]$/)]);

    await page.goto(`${all.at.perch.url}/annotate`);
    await file.setInputFiles({ name: 'huge.png', mimeType: 'image/png', buffer: whitePng(12_000, 9_000) });
    await page.getByText(/huge\.png has 12,000 × 9,000 pixels\. It was made smaller: 4,\d{3} × 3,\d{3}\./).waitFor({ timeout: 60_000 });
    await page.getByRole('radio', { name: 'Pen' }).waitFor();

    await page.goto(`${all.at.perch.url}/annotate`);
    await file.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
    await page
      .getByRole('alert')
      .getByText(/notes\.txt \(text\/plain\) is no picture/)
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
        { base64: whitePng(64, 48).toString('base64'), type },
      );
    for (const type of ['drop', 'paste'] as const) {
      await page.goto(`${all.at.perch.url}/annotate`);
      await page.getByRole('button', { name: 'Empty sheet' }).waitFor();
      await give(type);
      await until(async () => (await titleField(page).inputValue()) === type, `what was given by ${type}`);
    }
    // Onto a drawing that is open.
    await give('drop');
    await until(async () => (await kindsOf(all.at, page)).filter((kind) => kind === 'image').length === 2, 'the second picture');

    await page.goto(`${all.at.perch.url}/annotate`);
    await page.getByRole('button', { name: 'Camera' }).click();
    await page.getByRole('button', { name: 'Take the picture' }).click();
    await until(async () => (await titleField(page).inputValue()) === 'Photograph', 'the photograph');
    await page.goto(`${all.at.perch.url}/annotate`);
    await page.getByRole('button', { name: 'Picture of a window or screen' }).click();
    await until(async () => (await titleField(page).inputValue()) === 'Screenshot', 'the screen');
    expect(await kindsOf(all.at, page)).toEqual(['image']);
    await page.close();
  });

  verifies('annotate/export', 'redactions are burned into pixels and vectors, and JSON tells that it has what they cover', async () => {
    const page = await openPage(all.at, '/annotate');
    const file = page.locator('[data-source=file]');
    await file.setInputFiles({ name: 'secret.jpg', mimeType: 'image/jpeg', buffer: await redBlueJpeg(page) });
    await choose(page, 'Redact');
    await drag(page, [0.01, 0.01], [0.99, 0.99]);
    await page.getByRole('button', { name: 'Layers and notes' }).waitFor();
    await until(async () => (await kindsOf(all.at, page)).includes('redaction'), 'the redaction');
    for (const [name, ending] of [
      ['PNG', 'png'],
      ['JPEG', 'jpg'],
    ] as const) {
      const got = await download(page, name);
      expect(got.name).toBe(`secret.${ending}`);
      const { colors } = await pixelsOf(page, got.bytes, [
        [30, 40],
        [90, 40],
      ]);
      expect(colors).toEqual(['#000000', '#000000']);
    }
    const picture = (text: string): string[] => text.match(/data:image\/\w+;base64,[A-Za-z0-9+/=]+/g) ?? [];
    const svg = (await download(page, 'SVG')).bytes.toString();
    expect(svg).toMatch(/^<svg /);
    for (const each of picture(svg)) {
      const { colors } = await pixelsOf(page, Buffer.from(each.split(',')[1] ?? '', 'base64'), [[30, 40]]);
      expect(colors).toEqual(['#000000']);
    }
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Drawing (JSON), to go on with' }).click();
    const warning = page.getByRole('dialog', { name: 'What is redacted is in this file' });
    const [got] = await Promise.all([page.waitForEvent('download'), warning.getByRole('button', { name: 'Export the JSON' }).click()]);
    const json = readFileSync(await got.path(), 'utf8');
    expect(picture(json)).toHaveLength(1);

    await page.goto(`${all.at.perch.url}/annotate`);
    await file.setInputFiles({ name: got.suggestedFilename(), mimeType: 'application/json', buffer: Buffer.from(json) });
    await until(async () => (await titleField(page).inputValue()) === 'secret', 'the drawing of the file');
    expect((await kindsOf(all.at, page)).sort()).toEqual(['image', 'redaction']);
    await page.goto(`${all.at.perch.url}/annotate`);
    await file.setInputFiles({ name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{}') });
    await page
      .getByRole('alert')
      .getByText(/other\.json: This is no drawing of Perch/)
      .waitFor();

    await page.getByRole('link', { name: 'secret' }).first().click();
    await page.getByRole('radio', { name: 'Pen' }).waitFor();
    await page.keyboard.press('Shift+Alt+C');
    await page.getByText('The picture is on the clipboard.').waitFor();
    expect(await page.evaluate(async () => (await navigator.clipboard.read()).flatMap(({ types }) => types))).toEqual(['image/png']);
    await page.close();
  });
});
