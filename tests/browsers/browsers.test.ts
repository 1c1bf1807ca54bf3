import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addProvider, connectOutside } from '../e2e/outside-client.ts';
import { type Perch, startPerch } from '../e2e/perch-process.ts';
import { type ScriptedModel, startScriptedModel } from '../e2e/scripted-model.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { hasXvfb } from '../support/virtual-screen.ts';
import type { BrowserDriver } from './browser-driver.ts';
import { launchChromium } from './chromium-driver.ts';
import { FIREFOX, launchFirefox } from './firefox-driver.ts';
import { Tab } from './tab.ts';
import { launchWebKit, WEBKIT } from './webkit-driver.ts';

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Beginning and end of the demo's reply about hash maps. */
const HASH_MAP_START = 'A hash map turns each key';
const HASH_MAP_END = 'as with ten.';

/** The most common journeys, in one browser. Each journey continues where the one before ended. */
function describeJourneys(browserName: string, launch: () => Promise<BrowserDriver>): void {
  describe(browserName, () => {
    const parts = new AsyncDisposableStack();
    let model: ScriptedModel;
    let perch: Perch;
    let browser: BrowserDriver;
    let tab: Tab;

    beforeAll(async () => {
      model = parts.use(await startScriptedModel());
      // The managed Chromium runs the gateway, so that a reply outlives a reload in every browser. The demo runs in the browser's own worker.
      perch = parts.use(await startPerch({ host: 'headless' }));
      using outside = await connectOutside(perch);
      await addProvider(outside.client, model.url);
      await outside.client.call('config.set', { key: 'chat.model', value: 'local/told' });
      browser = parts.use(await launch());
      tab = new Tab(await browser.openTab());
    });
    afterAll(() => parts.disposeAsync());

    const openLinkedPage = async (path: string): Promise<void> => {
      await tab.goto(path);
      await tab.waitFor(`document.querySelector('[data-connection]')?.dataset.connection === 'Connected'`);
    };

    verifies(['app/browsers', 'app/first-answer'], `${browserName}: the printed link, a question, an answer`, async () => {
      await openLinkedPage(perch.linkUrl);
      model.queueReply('Herons nest in trees.');
      await tab.send('Where do herons nest?');
      await tab.waitForText('Herons nest in trees.');
    });

    verifies(['app/browsers', 'app/reload'], `${browserName}: a reply streams, also into a page that is reloaded meanwhile`, async () => {
      const reply = model.beginReply();
      await tab.send('How do they hunt?');
      await reply.sendText('They stand still, ');
      await tab.waitForText('They stand still,');
      await tab.reload();
      await tab.waitForText('They stand still,');
      await reply.sendText('then strike.');
      await tab.waitForText('They stand still, then strike.');
      await reply.end();
    });

    verifies(['app/browsers', 'app/two-tabs'], `${browserName}: a second tab shows a reply while it streams`, async () => {
      const other = new Tab(await browser.openTab());
      await other.goto(perch.url + String(await tab.evaluate('location.pathname')));
      await other.waitForText('They stand still, then strike.');
      const reply = model.beginReply();
      await tab.send('And in winter?');
      await reply.sendText('Some stay, ');
      await other.waitForText('Some stay,');
      await reply.sendText('some leave.');
      await reply.end();
      await other.waitForText('Some stay, some leave.');
      await tab.waitForText('Some stay, some leave.');
      await other.close();
    });

    verifies('app/browsers', `${browserName}: a theme applies at once and stays`, async () => {
      await openLinkedPage(`${perch.url}/settings/appearance`);
      await tab.click('radio', 'Dark');
      await tab.waitFor(`document.documentElement.dataset.theme === 'dark'`);
      await tab.reload();
      await tab.waitFor(`document.documentElement.dataset.theme === 'dark'`);
    });

    verifies(['app/browsers', 'annotate/export'], `${browserName}: a rectangle is drawn and exported as PNG`, async () => {
      await openLinkedPage(`${perch.url}/annotate`);
      await tab.click('button', 'Blank canvas');
      await tab.click('button', 'Rectangle');
      await tab.dragWithin('application', /^Drawing/, [0.4, 0.4], [0.6, 0.6]);
      await tab.waitFor(`document.querySelector('[data-saving=saved]') !== null`);
      await tab.click('button', 'Export');
      await tab.click('menuitem', 'PNG');
      const findPicture = (): string | undefined => readdirSync(browser.downloads).find((name) => name.endsWith('.png'));
      await waitFor(() => findPicture() !== undefined, 'the exported picture');
      const path = join(browser.downloads, findPicture() ?? '');
      await waitFor(() => readFileSync(path).length > PNG_SIGNATURE.length, 'the bytes of the picture');
      expect(readFileSync(path).subarray(0, PNG_SIGNATURE.length)).toEqual(PNG_SIGNATURE);
    });

    verifies('app/browsers', `${browserName}: the demo opens on its first chat, which continues after an approval`, async () => {
      await tab.goto(`${perch.url}/?demo`);
      await tab.waitFor(`location.pathname === '/chat/main/spring-count'`);
      await tab.click('button', 'Allow once');
      await tab.waitForText('has 20 rows');
    });

    verifies('app/browsers', `${browserName}: the browser’s own gateway serves two tabs, one of them reloaded during a reply`, async () => {
      await tab.click('link', /^New chat/);
      await tab.waitFor(`location.pathname === '/'`);
      await tab.send('Explain how a hash map works, with a small example');
      await tab.waitForText(HASH_MAP_START);
      const path = String(await tab.evaluate('location.pathname'));
      const other = new Tab(await browser.openTab());
      await other.goto(`${perch.url}${path}?demo`);
      await other.waitForText(HASH_MAP_START);
      await tab.reload();
      await tab.waitForText(HASH_MAP_END);
      await other.waitForText(HASH_MAP_END);
      await other.close();
    });

    verifies(['app/browsers', 'app/offline'], `${browserName}: the app opens and answers without its server`, async () => {
      await tab.waitFor('navigator.serviceWorker.ready.then(() => true)');
      await perch.kill('SIGTERM');
      await tab.reload();
      await tab.waitForText(HASH_MAP_END);
      await tab.send('Who are you?');
      await tab.waitForText('my replies are scripted');
    });
  });
}

describeJourneys('Chromium', launchChromium);

const firefox = FIREFOX;
if (firefox === undefined) test.skip('app/browsers: firefox-esr is not installed here', () => {});
else describeJourneys('Firefox', () => launchFirefox(firefox));

const webKit = WEBKIT;
if (webKit === undefined) test.skip('app/browsers: webkit2gtk-driver is not installed here', () => {});
else if (!hasXvfb) test.skip('app/browsers: Xvfb is not installed here', () => {});
else describeJourneys('WebKitGTK', () => launchWebKit(webKit));
