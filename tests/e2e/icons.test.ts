import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect } from 'vitest';
import { FA_GLYPHS } from '../../web/kit/icons/fa-icons.ts';
import { Icon } from '../../web/kit/icons/icon.ts';
import type * as Icons from '../../web/kit/icons/icons.ts';
import { verifies } from '../requirements.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';

/** Names of the public API. */
const SET_A =
  'plus minus xmark check edit trash copy paste save arrow-left arrow-right arrow-up arrow-down home menu circle-check circle-xmark triangle-exwarning circle-info circle-question comment paper-plane microphone user users gear file folder folder-open database brain robot wand-magic-sparkles image video music play pause stop heart star magnifying-glass filter lock unlock key clock calendar code terminal eye eye-slash spinner link'.split(
    ' ',
  );
const LUCIDE = ['send', 'sparkles', 'bot', 'message-square', 'terminal', 'code'];
const MEANINGS = 'success error warning info add edit delete copy save menu back forward home brain robot sparkles'.split(' ');
const POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; style-src 'self'";

/** Text that the page's script has written. */
declare const icons: typeof Icons;

let server: Server;
let site: string;
let browser: TestBrowser;

beforeAll(async () => {
  const bundle = await rolldown({
    input: join(import.meta.dirname, '../../web/kit/icons/icons.ts'),
    platform: 'browser',
    logLevel: 'warn',
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  const html = '<!doctype html><html lang="en"><title>Icons</title><main></main><script type="module" src="/page.js"></script>';
  const files: Record<string, [type: string, body: string]> = {
    '/': ['text/html', html],
    '/page.js': ['text/javascript', "import * as icons from '/icons.js'; Object.assign(globalThis, { icons });"],
    '/icons.js': ['text/javascript', output[0].code],
  };
  server = createServer(({ url = '/' }, response) => {
    const [type, body] = files[url] ?? ['text/plain', ''];
    response.writeHead(body ? 200 : 404, { 'content-type': type, 'content-security-policy': POLICY }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  browser = await launchBrowser();
}, 120_000);

afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  server.close();
});

/** A page on which nothing but its own script may run. */
async function openIconsPage(): Promise<Page> {
  const page = await browser.page(site);
  await page.waitForFunction(() => 'icons' in globalThis);
  return page;
}

/** Whether something of the icon is drawn: pixels of its colour. */
async function isDrawn(page: Page, selector: string): Promise<boolean> {
  const picture = (await page.locator(selector).screenshot()).toString('base64');
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context?.drawImage(image, 0, 0);
    const pixels = context?.getImageData(0, 0, image.width, image.height).data ?? [];
    for (let at = 0; at < pixels.length; at += 4)
      if ((pixels[at] ?? 0) > 200 && (pixels[at + 1] ?? 0) < 60 && (pixels[at + 2] ?? 0) < 60) return true;
    return false;
  }, picture);
}

verifies(['icons/set-a', 'icons/lucide', 'icons/offline'], 'each glyph is drawn in the colour and size that is asked for', async () => {
  const page = await openIconsPage();
  const sizes = await page.evaluate(
    ([setA, lucide]) => {
      const { faIcon, lucideIcon } = icons;
      const made = [
        ...setA.map((name) => faIcon(name as Icons.FaIconName, { color: 'rgb(255, 0, 0)', size: 32 })),
        ...lucide.map((name) => lucideIcon(name as Icons.LucideIconName, { color: 'rgb(255, 0, 0)', size: 32 })),
      ];
      for (const [at, icon] of made.entries()) {
        icon.id = `icon-${at}`;
        document.querySelector('main')?.append(icon);
      }
      return made.map((icon) => icon.getBoundingClientRect().height);
    },
    [SET_A, LUCIDE] as const,
  );
  expect(new Set(sizes)).toEqual(new Set([32]));
  const missing = [];
  for (const [at, name] of [...SET_A, ...LUCIDE].entries()) if (!(await isDrawn(page, `#icon-${at}`))) missing.push(name);
  expect(missing).toEqual([]);
  expect(FA_GLYPHS.get('triangle-exclamation')).toBe(FA_GLYPHS.get('triangle-exwarning'));
  const refused = await page.evaluate(() => {
    const { faIcon } = icons;
    const why = (work: () => unknown): string => {
      try {
        return String(work());
      } catch (error) {
        return String(error);
      }
    };
    const { Icon, lucideIcon } = icons;
    return [
      why(() => faIcon('plus', 'red', 0)),
      why(() => lucideIcon('bot', 'red', -1)),
      why(() => Icon.info('red', -2)),
      why(() => faIcon('smiley' as Icons.FaIconName)),
      why(() => faIcon('plus', { size: Number.NaN })),
      why(() => faIcon('plus', { size: -1 })),
    ];
  });
  const size = (given: string): string => `RangeError: The size of an icon must be a positive number of pixels, not ${given}.`;
  expect(refused.filter((each) => !each.includes('smiley'))).toEqual(['0', '-1', '-2', 'NaN', '-1'].map(size));
  expect(refused.find((each) => each.includes('smiley'))).toMatch(
    /^RangeError: Font Awesome has no icon "smiley"\. Use one of plus, minus, .*\.$/,
  );
  expect([browser.foreignRequests, browser.complaints]).toEqual([[], []]);
});

verifies('icons/buttons', 'by mouse and keyboard, in a form', async () => {
  const page = await openIconsPage();
  await page.evaluate(() => {
    const { faIconButton } = icons;
    const form = document.createElement('form');
    form.addEventListener('submit', () => (document.title = 'submitted'));
    let clicks = 0;
    form.append(faIconButton('trash', { tooltip: 'Delete “<b>”', size: 12, onClick: () => (document.title = `clicked ${++clicks}`) }));
    document.querySelector('main')?.append(form);
  });
  const button = page.getByRole('button', { name: 'Delete “<b>”', exact: true });
  await button.click();
  await button.press('Enter');
  expect(await page.title()).toBe('clicked 2');
  const box = await button.boundingBox();
  expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  // The icon within says nothing of its own.
  expect(await page.getByRole('img').count()).toBe(0);
  for (const bad of [{ tooltip: ' ' }, 'red'] as const)
    await expect(page.evaluate((given) => void icons.faIconButton('trash', given as { tooltip: string }), bad)).rejects.toThrow(
      'An icon button needs a tooltip: it is the name of the button.',
    );
});

verifies(['icons/set-a', 'icons/buttons', 'icons/meaning'], 'with arguments in the specified order, as elements', async () => {
  const page = await openIconsPage();
  const made = await page.evaluate(() => {
    const { faIcon, faIconButton, Icon, lucideIcon } = icons;
    const button = faIconButton('trash', 'rgb(1, 2, 3)', () => (document.title = 'clicked'), 'Delete');
    const all = [faIcon('plus', 'rgb(1, 2, 3)', 20), lucideIcon('bot', 'rgb(1, 2, 3)', 20), Icon.success('rgb(1, 2, 3)', 20), button];
    document.querySelector('main')?.append(...all, Icon.success());
    button.click();
    const svgs = all.map((each) => (each instanceof SVGSVGElement ? each : each.querySelector('svg')));
    return svgs.map((svg) => `${svg?.getAttribute('fill')} ${svg?.getAttribute('stroke')} ${svg?.getAttribute('height')}`);
  });
  expect(made).toEqual(['rgb(1, 2, 3) null 20', 'none rgb(1, 2, 3) 20', 'rgb(1, 2, 3) null 20', 'rgb(1, 2, 3) null 16']);
  expect(await page.title()).toBe('clicked');
  // Appended as they are, without a call for the element.
  expect(await page.getByRole('img', { name: 'Success', exact: true }).count()).toBe(2);
});

verifies('icons/meaning', 'in the page and as text', async () => {
  const page = await openIconsPage();
  const colors = await page.evaluate((names) => {
    const { Icon } = icons;
    const all = Icon as unknown as Record<string, (options?: Icons.IconOptions) => Icons.IconElement>;
    return names.map((name) => {
      const icon = all[name]?.().toElement();
      if (icon) document.querySelector('main')?.append(icon);
      return icon?.getAttribute('fill');
    });
  }, MEANINGS);
  const names = await page.getByRole('img').evaluateAll((found) => found.map((each) => each.getAttribute('aria-label')));
  expect(names).toEqual(
    'Success Error Warning Information Add Edit Delete Copy Save Menu Back Forward Home Brain Robot Sparkles'.split(' '),
  );
  for (const color of colors.slice(0, 4))
    for (const ground of ['#ffffff', '#111111']) expect(computeContrast(`${color}`, ground)).toBeGreaterThanOrEqual(3);
  const text = Icon.error({ color: '"><script>', size: 20, label: 'Not <saved>' }).toSvg();
  expect(text).toContain('role="img" aria-label="Not &lt;saved&gt;"');
  expect(text).toContain('fill="&quot;&gt;&lt;script&gt;"');
  expect(text.match(/<[a-z]+/g)).toEqual(['<svg', '<path']);
});

/** By WCAG 2.2. */
function computeContrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(computeLuminance).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function computeLuminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
