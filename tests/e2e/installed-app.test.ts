import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TextReader, Uint8ArrayWriter, ZipWriter } from '@zip.js/zip.js';
import type { CDPSession, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { findFullBrowserProgram, type Perch, startPerch } from './perch-process.ts';
import { createWhitePng } from './test-pictures.ts';

interface SharedContent {
  title?: string;
  text?: string;
  url?: string;
  files?: { name: string; type: string; base64: string }[];
}

/** A site that posts to the app what any page can: a form. */
async function startForeignSite(): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Foreign</title>'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

/** Leaves the page for the app's share target, as the system does with what is shared. */
async function postToShareTarget(page: Page, action: string, what: SharedContent): Promise<void> {
  const arrived = page.waitForURL(/\/share\?/);
  await page.evaluate(
    ({ action, files = [], ...fields }) => {
      const form = Object.assign(document.createElement('form'), {
        action,
        method: 'post',
        enctype: 'multipart/form-data',
        acceptCharset: 'utf-8',
      });
      for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement('input'), { name, value }));
      const input = Object.assign(document.createElement('input'), { type: 'file', name: 'files', multiple: true });
      const list = new DataTransfer();
      for (const { name, type, base64 } of files)
        list.items.add(new File([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], name, { type }));
      input.files = list.files;
      form.append(input);
      document.body.append(form);
      form.submit();
    },
    { action, ...what },
  );
  await arrived;
}

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const getOpenButton = (page: Page) => page.getByRole('button', { name: 'Open', exact: true });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Chromium's own commands for installed apps, which Playwright does not know yet. */
type PwaCommands = CDPSession & { send(method: `PWA.${string}`, params: Record<string, unknown>): Promise<unknown> };

const SESSION_LINE = JSON.stringify({ id: 'a', parentId: null, role: 'user', content: 'Hoist the sails', timestamp: 1_700_000_000_000 });

// A headless shell installs no apps.
const executable = await findFullBrowserProgram();
if (executable === null) test.skip('app/installable: a full Chromium is not installed here', () => {});
describe.runIf(executable !== null)('the app as the system knows it', () => {
  let perch: Perch;
  let browser: TestBrowser;
  let site: Awaited<ReturnType<typeof startForeignSite>>;
  let folder: string;
  let pwa: PwaCommands;
  let manifestId: string;

  /** The window of the installed app, which a launch opens, or finds again (`launch_handler`). */
  async function appWindow(): Promise<Page> {
    await pwa.send('PWA.launch', { manifestId });
    let found: Page | undefined;
    const isApp = (page: Page) => page.evaluate(() => matchMedia('(display-mode: standalone)').matches).catch(() => false);
    await waitFor(async () => {
      for (const page of browser.context.pages()) if (await isApp(page)) found = page;
      return found !== undefined;
    }, 'a window of the app');
    return found ?? expect.fail('there is no window of the app');
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'perch-files-'));
    perch = await startPerch({ host: 'tab' });
    browser = await launchBrowser({ executable });
    site = await startForeignSite();
    const page = await browser.page(perch.linkUrl);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    await composer(page).waitFor();
    await page.close();
    pwa = (await browser.devtools()) as PwaCommands;
    manifestId = `${perch.url}/`;
    await pwa.send('PWA.install', { manifestId, installUrlOrBundleUrl: manifestId });
    await pwa.send('PWA.changeAppUserSettings', { manifestId, displayMode: 'standalone' });
  });
  afterAll(async () => {
    await site?.[Symbol.asyncDispose]();
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  verifies('app/installable', 'Chromium finds nothing amiss, its pictures are what they say, and shortcuts lead to pages', async () => {
    const page = await browser.page(perch.url);
    const cdp = await page.context().newCDPSession(page);
    expect(await cdp.send('Page.getInstallabilityErrors')).toEqual({ installabilityErrors: [] });
    const { data = '', errors } = await cdp.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    interface Picture {
      src: string;
      sizes: string;
      type: string;
      purpose?: string;
    }
    interface Manifest {
      id: string;
      icons: Picture[];
      screenshots: Picture[];
      shortcuts: { url: string }[];
      share_target: { params: { files: { accept: string[] }[] } };
    }
    const manifest = JSON.parse(data) as Manifest;
    expect(manifest.id).toBe('/');
    // The system offers the app for what it names alone.
    expect(manifest.share_target.params.files.flatMap(({ accept }) => accept)).toEqual(expect.arrayContaining(['application/zip', '.zip']));
    expect(manifest.icons.filter(({ purpose }) => purpose === 'maskable').map(({ sizes }) => sizes)).toEqual(['192x192', '512x512']);
    const pictures = [...manifest.icons, ...manifest.screenshots].filter(({ type }) => type === 'image/png');
    const sizes = await page.evaluate(
      (sources) =>
        Promise.all(
          sources.map(async (source) => {
            const { width, height } = await createImageBitmap(await (await fetch(source)).blob());
            return `${width}x${height}`;
          }),
        ),
      pictures.map(({ src }) => src),
    );
    expect(sizes).toEqual(pictures.map((picture) => picture.sizes));
    for (const { url } of manifest.shortcuts) {
      await page.goto(new URL(url, perch.url).href);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      expect(await page.getByText('Page not found').count(), url).toBe(0);
    }
    await page.close();
  });

  verifies('app/shared-to', 'in a tab a person is asked, for any page can post there; a picture goes to the canvas', async () => {
    const page = await browser.page(site.url);
    const picture = { name: 'harbour.png', type: 'image/png', base64: createWhitePng(80, 60).toString('base64') };
    await postToShareTarget(page, `${perch.url}/share`, { files: [picture] });
    await page.getByText('harbour.png').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await composer(page).waitFor();
    await page.goBack();
    await page.getByText('Nothing shared yet').waitFor();

    await page.goto(site.url);
    await postToShareTarget(page, `${perch.url}/share`, { files: [picture] });
    await getOpenButton(page).click();
    await page.waitForURL(/\/annotate\/.+/);
    await page.getByText('harbour').first().waitFor();
    await page.close();
  });

  verifies('app/shared-to', 'misleading names are shown in full, and do nothing', async () => {
    const page = await browser.page(site.url);
    const picture = createWhitePng(80, 60).toString('base64');
    await postToShareTarget(page, `${perch.url}/share`, {
      files: [
        { name: 'bill\u202egnp.html', type: 'text/html', base64: base64('<script>document.title = "run"</script>') },
        { name: '<img src=x onerror=alert(1)>.txt', type: 'text/plain', base64: base64('x') },
        { name: '../../../etc/passwd\u200b\u2067.png', type: 'image/png', base64: picture },
        { name: '__proto__', type: 'text/plain', base64: base64('y') },
      ],
    });
    const listed = page.getByRole('main').getByRole('listitem').locator('bdi');
    await listed.first().waitFor();
    const names = await listed.allTextContents();
    expect(names[0]).toBe('billgnp.html');
    expect(names.join()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(names).toHaveLength(4);
    expect(await page.getByRole('main').locator('img').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
    await page.getByRole('button', { name: 'Discard' }).click();
    await composer(page).waitFor();

    await page.goto(site.url);
    await postToShareTarget(page, `${perch.url}/share`, { files: [{ name: 'mast\u202egnp.png', type: 'image/png', base64: picture }] });
    await getOpenButton(page).click();
    await page.waitForURL(/\/annotate\/.+/);
    await waitFor(
      async () => (await page.getByRole('textbox', { name: 'Title' }).inputValue()) === 'mastgnp',
      'the drawing, called after its file',
    );
    await page.close();
  });

  verifies('app/shared-to', 'text and other files go to a new message, after its draft; nothing is sent', async () => {
    const page = await appWindow();
    await page.goto(perch.url);
    await composer(page).fill('Mine.');
    await page.goto(site.url);
    await postToShareTarget(page, `${perch.url}/share`, {
      title: 'Tides',
      text: 'High water at six',
      url: 'https://tides.example/today',
      files: [{ name: 'log.txt', type: 'text/plain', base64: base64('calm') }],
    });
    await page.getByText('log.txt').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    expect(await composer(page).inputValue()).toBe('Mine.\nTides\nHigh water at six\nhttps://tides.example/today');
    expect(await page.getByRole('article').count()).toBe(0);
    await page.getByRole('button', { name: /Remove/ }).click();
    await composer(page).fill('');
  });

  verifies('app/shared-to', 'a zip of chats is imported, a truncated one is reported, any other goes to a new message', async () => {
    const zip = async (files: Readonly<Record<string, string>>): Promise<Buffer> => {
      const writer = new ZipWriter(new Uint8ArrayWriter());
      for (const [name, text] of Object.entries(files)) await writer.add(name, new TextReader(text));
      return Buffer.from(await writer.close());
    };
    const chats = await zip({ 'Sails.jsonl': `${SESSION_LINE}\n`, 'Knots.md': '# Knots\n\n## You\n\nTie a bowline\n' });
    const page = await appWindow();
    const share = async (name: string, bytes: Buffer): Promise<void> => {
      await page.goto(site.url);
      await postToShareTarget(page, `${perch.url}/share`, { files: [{ name, type: 'application/zip', base64: bytes.toString('base64') }] });
    };
    await share('chats.zip', chats);
    await page.waitForURL(/\/sessions$/);
    for (const title of ['Sails', 'Knots']) await page.getByRole('table').getByRole('link', { name: title, exact: true }).waitFor();

    await share('cut.zip', chats.subarray(0, chats.length - 30));
    await page.getByRole('alert').getByText('cut.zip wasn’t imported: the zip file is damaged').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await composer(page).waitFor();

    // What could be brought in is there already, and does not come again with the next try.
    await share(
      'half.zip',
      await zip({
        'About.md': '# About',
        'Tides.jsonl': `${SESSION_LINE.replace('sails', 'flag')}\n`,
        'Wrong.jsonl': `${SESSION_LINE}\n{"id":"b"}\n`,
      }),
    );
    await page.getByRole('alert').getByText('About.md wasn’t imported').waitFor();
    await page.getByRole('alert').getByText('Wrong.jsonl wasn’t imported').waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.waitForURL(/\/sessions$/);
    await page.getByRole('table').getByRole('link', { name: 'Tides', exact: true }).waitFor();
    expect(await page.getByRole('table').getByRole('link', { name: 'Tides', exact: true }).count()).toBe(1);

    await share('photos.zip', await zip({ 'a.txt': 'no chat' }));
    await page.getByText('photos.zip').waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    await page.getByRole('button', { name: /Remove/ }).click();
  });

  test('a file that is neither chat nor picture is reported, and can be dismissed', async () => {
    const page = await appWindow();
    await page.goto(site.url);
    await postToShareTarget(page, `${perch.url}/share`, { files: [{ name: 'broken.jsonl', type: '', base64: base64('{"no": "chat"') }] });
    await page.getByRole('alert').getByText('broken.jsonl').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await composer(page).waitFor();
    await page.goto(site.url);
    await postToShareTarget(page, `${perch.url}/share`, { files: [{ name: 'empty.jsonl', type: '', base64: '' }] });
    await page.getByRole('alert').getByText('empty.jsonl is empty.').waitFor();
    await page.goto(site.url);
    await postToShareTarget(page, `${perch.url}/share`, { text: ' ' });
    await page.getByText('Nothing shared yet').waitFor();
    await page.goto(site.url);
    await postToShareTarget(page, `${perch.url}/share`, {
      files: [{ name: 'broken.png', type: 'image/png', base64: base64('no pixels') }],
    });
    await page.getByRole('alert').getByText('broken.png').waitFor();
  });

  verifies(
    'app/file-handlers',
    'files that the installed app is opened with: a chat, of another program too, to the list, a picture to the canvas',
    async () => {
      const chat = join(folder, 'sails.jsonl');
      const hostile = join(folder, '<b>mast\u202egnp.png');
      writeFileSync(hostile, createWhitePng(80, 60));
      const picture = join(folder, 'chart.png');
      writeFileSync(chat, `${SESSION_LINE}\n`);
      writeFileSync(picture, createWhitePng(80, 60));
      await pwa.send('PWA.launchFilesInApp', { manifestId, files: [chat] });
      const at = (path: RegExp) => browser.context.pages().find((page) => path.test(page.url()));
      await waitFor(() => at(/\/chat\/main\/.+/) !== undefined, 'the chat in a window', 30_000);
      await at(/\/chat\/main\/.+/)
        ?.getByText('Hoist the sails')
        .first()
        .waitFor();
      const elsewhere = join(folder, 'conversations.json');
      const userMessage = { author: { role: 'user' }, content: { content_type: 'text', parts: ['When is high water?'] } };
      const mapping = {
        top: { id: 'top', message: null, parent: null, children: ['m1'] },
        m1: { id: 'm1', message: { id: 'm1', ...userMessage }, parent: 'top', children: [] },
      };
      writeFileSync(
        elsewhere,
        JSON.stringify([{ id: 'c1', title: 'Tides of May', create_time: 1_700_000_000, current_node: 'm1', mapping }]),
      );
      await pwa.send('PWA.launchFilesInApp', { manifestId, files: [elsewhere] });
      await waitFor(() => at(/\/sessions$/) !== undefined, 'the list of chats in a window', 30_000);
      await at(/\/sessions$/)
        ?.getByRole('main')
        .getByText('Tides of May')
        .waitFor();
      await pwa.send('PWA.launchFilesInApp', { manifestId, files: [picture] });
      await waitFor(() => at(/\/annotate\/.+/) !== undefined, 'the drawing in a window', 30_000);
      await at(/\/annotate\/.+/)
        ?.getByText('chart')
        .first()
        .waitFor();
      await pwa.send('PWA.launchFilesInApp', { manifestId, files: [hostile] });
      await waitFor(async () => {
        const titles = browser.context.pages().map((page) => page.title().catch(() => ''));
        return (await Promise.all(titles)).some((title) => title.startsWith('<b>mastgnp'));
      }, 'the drawing, called after its file');
    },
  );

  verifies(
    ['app/shared-to', 'app/fallback'],
    'without the bridge: shares come, pages open, and what is no page is never the app’s',
    async () => {
      const page = await browser.page(perch.url);
      await composer(page).waitFor();
      const serverPaths = ['/v1/models', '/health', '/ws', '/uplink', '/mcp'];
      await page.evaluate((paths) => Promise.all(paths.map((path) => fetch(path).catch(() => {}))), serverPaths);
      await perch.kill('SIGTERM');
      const reached = await page.evaluate(
        (paths) =>
          Promise.all(
            paths.map((path) =>
              fetch(path).then(
                ({ status }) => `${path} ${status}`,
                () => 'away',
              ),
            ),
          ),
        serverPaths,
      );
      expect(reached).toEqual(serverPaths.map(() => 'away'));
      const cachedPaths = await page.evaluate(async () => {
        const paths: string[] = [];
        for (const name of await caches.keys())
          for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
        return paths;
      });
      expect(cachedPaths).toContain('/');
      expect(cachedPaths.filter((path) => /^\/(v1|health|ws|uplink|mcp)/.test(path))).toEqual([]);
      for (const path of ['/v1/models', '/health']) {
        const other = await browser.page();
        await expect(other.goto(`${perch.url}${path}`)).rejects.toThrow('ERR_CONNECTION_REFUSED');
        await other.close();
      }
      await page.goto(`${perch.url}/settings`);
      await page.getByRole('heading', { name: 'General', level: 1 }).waitFor();
      await page.goto(site.url);
      await postToShareTarget(page, `${perch.url}/share`, { text: 'From the pier' });
      await getOpenButton(page).click();
      await waitFor(async () => (await composer(page).inputValue()) === 'From the pier', 'the draft', 20_000);
      await page.close();
    },
  );
});
