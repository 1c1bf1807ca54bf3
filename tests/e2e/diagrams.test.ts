import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { useReplyFixture, sendMessage, toCodeBlock, replies } from './reply-fixture.ts';
import { waitForConnection, LINKED_STATUS } from './connection-status.ts';
import { ELSEWHERE_ARGS, startRecordingServer } from './recording-server.ts';
import { takeScreenshots } from './take-screenshots.ts';

const FLOW = 'flowchart LR\n  A[Ask] --> B{Known?}\n  B -->|yes| C[Answer]\n  B -->|no| D[(Search)]\n  D --> C';
const picture = (page: Page, alt: string) => replies(page).getByRole('img', { name: alt, exact: true });
const drawnSource = async (page: Page, alt: string): Promise<string> =>
  decodeURIComponent((await picture(page, alt).first().getAttribute('src')) ?? '');
const isLibrary = (url: string): boolean => /\/mermaid-[\d.]+\.js$/.test(url);

describe('diagrams of an answer', () => {
  const chat = useReplyFixture(ELSEWHERE_ARGS);
  const safe = (): void => {
    expect(chat.browser.foreignRequests).toEqual([]);
    expect(chat.browser.complaints).toEqual([]);
  };

  verifies('rendering/diagrams', 'diagrams are pictures in the colours of the theme, with their source beside them', async () => {
    const sequence = 'sequenceDiagram\n  Ana->>Ben: Are you there?\n  Ben-->>Ana: I am';
    const page = await chat.page(
      [toCodeBlock('mermaid', FLOW), toCodeBlock('mermaid', sequence), toCodeBlock('mmd', 'pie title Pets\n "Dogs" : 3\n "Cats" : 2')].join(
        '\n\n',
      ),
    );
    await picture(page, 'Sequence diagram').waitFor();
    await picture(page, 'Pie chart').waitFor();
    const light = await drawnSource(page, 'Flowchart');
    expect(light).toMatch(/^data:image\/svg\+xml;charset=utf-8,<svg [^]*Known\?[^]*<\/svg>$/);
    expect(await picture(page, 'Flowchart').evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth)).toBeGreaterThan(
      200,
    );
    await takeScreenshots(page, 'diagrams');

    await page.emulateMedia({ colorScheme: 'dark' });
    await waitFor(async () => (await drawnSource(page, 'Flowchart')) !== light, 'the diagram to be drawn for the dark');
    expect(await waitForNoProblems(() => findLowContrast(page), 'dark')).toEqual([]);
    expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
    await waitFor(async () => (await drawnSource(page, 'Flowchart')) === light, 'the diagram to be drawn for the light again');
    // The same with reduced motion.
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await waitFor(async () => (await drawnSource(page, 'Flowchart')) !== light, 'the diagram to be drawn for the dark, without movement');
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await waitFor(async () => (await drawnSource(page, 'Flowchart')) === light, 'the diagram to be drawn for the light, without movement');

    const figure = page.locator('[data-code]').first();
    await figure.getByRole('button', { name: 'Show source' }).click();
    expect(await figure.locator('pre').textContent()).toBe(FLOW);
    await figure.getByRole('button', { name: 'Show diagram' }).click();
    await picture(page, 'Flowchart').waitFor();
    safe();
    await page.close();
  });

  verifies('rendering/diagrams', 'a diagram opens large, is magnified, and is saved as SVG and PNG', async () => {
    const page = await chat.page(toCodeBlock('mermaid', FLOW));
    await replies(page).getByRole('button', { name: 'Enlarge Flowchart' }).click();
    const dialog = page.getByRole('dialog', { name: 'Flowchart' });
    const image = dialog.getByRole('img', { name: 'Flowchart' });
    await takeScreenshots(page, 'diagram-large');
    const before = (await image.boundingBox())?.width ?? 0;
    for (let times = 0; times < 6; times++) await dialog.getByRole('button', { name: 'Zoom in' }).click();
    expect((await image.boundingBox())?.width).toBeGreaterThan(before * 2);
    await dialog.getByRole('button', { name: 'Fit' }).click();
    expect((await image.boundingBox())?.width).toBeCloseTo(before, 0);

    const saved = async (name: string): Promise<{ name: string; bytes: Buffer }> => {
      const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name }).click()]);
      return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
    };
    const svg = await saved('Download SVG');
    expect(svg.name).toBe('Flowchart.svg');
    expect(svg.bytes.toString()).toMatch(/^<svg [^]*<style>[^]*Known\?[^]*<\/svg>$/);
    const png = await saved('Download PNG');
    expect(png.name).toBe('Flowchart.png');
    const pictureColours = await page.evaluate(async (base64) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))]));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context?.drawImage(image, 0, 0);
      const pixels = context?.getImageData(0, 0, image.width, image.height).data.buffer ?? new ArrayBuffer();
      return { width: image.width, colours: new Set(new Uint32Array(pixels)).size };
    }, png.bytes.toString('base64'));
    expect(pictureColours.width).toBeGreaterThan(400);
    expect(pictureColours.colours).toBeGreaterThan(10);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    safe();
    await page.close();
  });

  verifies(
    'rendering/diagrams',
    'a diagram with a mistake, without an end or too long is shown as it is written, with the reason',
    async () => {
      const endless = `mindmap\n  root\n${Array.from({ length: 3_000 }, (_, index) => `    leaf${index}`).join('\n')}`;
      const long = `flowchart LR\n${'  A --> B\n'.repeat(6_000)}`;
      const page = await chat.page(
        [
          toCodeBlock('mermaid', 'flowchart LR\n  A --> B\n  B -->\n  --> C{'),
          toCodeBlock('mermaid', long),
          toCodeBlock('mermaid', 'No diagram at all'),
          toCodeBlock('mermaid', 'block-beta\n  columns 9999999\n  a:9999999'),
        ].join('\n\n'),
      );
      const reply = replies(page);
      const see = async (index: number): Promise<void> => {
        // Another element takes its place when the reply is whole.
        await replies(page).last().getByRole('button', { name: 'Regenerate' }).waitFor();
        await page.locator('[data-code]').nth(index).scrollIntoViewIfNeeded();
      };
      await see(0);
      await reply.getByText('This diagram has a syntax error on line 4.').waitFor();
      await takeScreenshots(page, 'diagram-mistake');
      await see(2);
      await reply.getByText('Unknown diagram type.').waitFor();
      await reply.getByText('Diagram not shown: the source has more than 50,000 characters.').waitFor();
      expect(await reply.getByText('Parse error on line 4').textContent()).toContain('--> C{');
      await see(3);
      await reply.getByText(/^The picture would be \d+(\.\d+)? by \d/).waitFor();
      expect(await page.locator('[data-code] pre').count()).toBe(4);
      chat.model.queueReply(`${toCodeBlock('mermaid', endless)}\n\n${toCodeBlock('mermaid', FLOW)}\n\nDone.`);
      await sendMessage(page);
      const next = replies(page).last();
      await next.getByText('Done.').waitFor();
      await see(4);
      await next.getByText('Diagram not shown: rendering took more than 5 seconds.').waitFor();
      await see(5);
      await picture(page, 'Flowchart').waitFor();
      safe();
      await page.close();
    },
  );

  verifies('rendering/diagrams', 'a hostile diagram runs nothing and asks no other server', async () => {
    await using place = await startRecordingServer();
    const elsewhere = place.url;
    const hostile = [
      `flowchart LR\n  A["<img src='${elsewhere}/a' onerror='top.hacked=1'>"] --> B["<script>top.hacked=1</script>"]\n  click A "javascript:top.hacked=1"\n  click B href "${elsewhere}/b"`,
      `%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "@import url(${elsewhere}/c); * { background: url(${elsewhere}/d) }", "fontFamily": "x;}</style><script>top.hacked=1</script>"}}%%\nflowchart LR\n  A["<iframe src=${elsewhere}/e>"] --> B`,
      `sequenceDiagram\n  participant A\n  link A: x @ javascript:top.hacked=1\n  A->>A: <svg onload=top.hacked=1>`,
    ];
    const page = await chat.page(hostile.map((source) => toCodeBlock('mermaid', source)).join('\n\n'));
    await picture(page, 'Sequence diagram').waitFor();
    await waitFor(
      async () => (await replies(page).locator('[data-code] img').count()) + (await replies(page).locator('.trouble').count()) === 3,
      'all of them to be drawn or refused',
    );
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(
      await replies(page)
        .locator('svg, script, iframe, style')
        .evaluateAll((all) => all.filter((each) => each.closest('.picture')).length),
    ).toBe(0);
    expect(place.requests).toEqual([]);
    chat.browser.foreignRequests.length = 0;
    await page.close();
  });

  verifies('rendering/diagrams', 'pictures that a diagram names are not asked for, nor by a file that was saved', async () => {
    await using place = await startRecordingServer();
    const source = [
      `%%{init: {"themeCSS": ".node rect { fill: url(${place.url}/fill.svg#a) }"}}%%`,
      'flowchart LR',
      `  A@{ img: "${place.url}/node.png", label: "Pictured", w: 60, h: 60 } --> B[Plain]`,
    ].join('\n');
    const page = await chat.page(toCodeBlock('mermaid', source));
    await picture(page, 'Flowchart').waitFor();
    safe();
    expect(await drawnSource(page, 'Flowchart')).not.toContain('node.png');
    await replies(page).getByRole('button', { name: 'Enlarge Flowchart' }).click();
    const dialog = page.getByRole('dialog', { name: 'Flowchart' });
    const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download SVG' }).click()]);
    const saved = (await readFile(await download.path())).toString();
    expect(saved).toMatch(/^<svg [^]*Pictured[^]*<\/svg>$/);
    expect(saved).not.toContain(new URL(place.url).host);
    expect(place.requests).toEqual([]);
    await page.close();
  });

  verifies(
    'rendering/diagrams',
    'a diagram that is still being written stays code, and what draws is loaded for diagrams alone',
    async () => {
      const page = await chat.browser.page();
      const loaded: string[] = [];
      page.on('request', (request) => isLibrary(request.url()) && loaded.push(request.url()));
      await page.goto(chat.perch.url);
      await waitForConnection(page, LINKED_STATUS);
      const streamingReply = chat.model.beginReply();
      await sendMessage(page);
      await streamingReply.sendText(`Text, and ${'`code`'}.\n\n\`\`\`mermaid\n${FLOW}\n`);
      await page.locator('[data-code] pre').getByText('Known?').waitFor();
      expect(loaded).toEqual([]);
      await streamingReply.sendText('```\n\nThe end.');
      await streamingReply.end();
      await picture(page, 'Flowchart').waitFor();
      expect(loaded).toHaveLength(1);
      await page.close();
    },
  );

  verifies('rendering/diagrams', 'once a diagram was drawn, others are without a network', async () => {
    const page = await chat.page(toCodeBlock('mermaid', FLOW));
    await picture(page, 'Flowchart').waitFor();
    await page.evaluate(() => navigator.serviceWorker.ready);
    const isCached = (): Promise<boolean> =>
      page.evaluate(async () => (await (await caches.open('perch-diagrams')).keys()).some(({ url }) => /mermaid-[\d.]+\.js$/.test(url)));
    // The first page of a browser may have loaded it before the service worker was there.
    if (!(await isCached())) {
      await page.reload();
      await picture(page, 'Flowchart').waitFor();
    }
    await waitFor(isCached, 'the library to be kept');
    await page.context().setOffline(true);
    await page.reload();
    await picture(page, 'Flowchart').waitFor();
    await page.context().setOffline(false);
    await page.close();
  });
});
