import type { browserPort } from '#shared/ports/browser.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import { type DrivenBrowser, inTime, told } from './driven-browser.ts';
import type { BrowserProfiles } from './profiles.ts';

const PREVIEW_CHARS = 2_000;
const MAX_RESULT = 4 * 1024 * 1024;

/** The calls of the driven browser (interface document 1, section 4.1). */
export function browserHandlers(profiles: BrowserProfiles): PortHandlers<typeof browserPort.calls, typeof browserPort.events> {
  return {
    'browser.allow': async ({ places }) => {
      await profiles.allow(places);
      return {};
    },

    'browser.status': async ({ profile }) => {
      const running = await profiles.running(profile)?.catch(() => undefined);
      const place = (await running?.place()) ?? null;
      return {
        started: running !== undefined,
        profile,
        tabCount: running?.tabCount ?? 0,
        url: place?.url ?? null,
        title: place?.title ?? null,
      };
    },

    'browser.start': async ({ profile }) => ({ started: true, sessionId: (await profiles.browser(profile)).sessionId }),

    'browser.stop': async ({ profile }) => {
      await profiles.stop(profile);
      return { started: false };
    },

    'browser.tabs': async ({ profile }) => ({ tabs: (await (await profiles.running(profile)?.catch(() => undefined))?.tabs()) ?? [] }),

    'browser.open': async ({ url, profile }) => ({ opened: true, ...(await (await profiles.browser(profile)).open(url)) }),

    'browser.navigate': async ({ url, profile }) => ({ navigated: true, ...(await (await profiles.browser(profile)).navigate(url)) }),

    'browser.click': async ({ ref, profile }) => {
      await act(profiles, profile, ref, (element) => element.click());
      return { clicked: true, ref };
    },

    'browser.type': async ({ ref, text, profile }) => {
      await act(profiles, profile, ref, (element) => element.fill(text));
      return { typed: true, ref };
    },

    'browser.screenshot': async ({ profile, fullPage }) => {
      const page = await (await profiles.browser(profile)).page();
      const picture = await page.screenshot({ fullPage, type: 'png' }).catch((error: unknown) => {
        throw told(error, 'No picture could be taken');
      });
      return { screenshotB64: picture.toString('base64'), mimeType: 'image/png', sizeBytes: picture.length };
    },

    'browser.snapshot': async ({ profile }) => {
      const browser = await profiles.browser(profile);
      const html = await inTime((await browser.page()).content()).catch((error: unknown) => {
        throw told(error, 'The page could not be read');
      });
      const place = await browser.place();
      return { htmlLength: html.length, htmlPreview: html.slice(0, PREVIEW_CHARS), url: place?.url ?? '', title: place?.title ?? '' };
    },

    'browser.evaluate': async ({ fn, profile }) => ({ result: await evaluate(await profiles.browser(profile), fn) }),

    'browser.profiles': async () => ({ profiles: await profiles.list() }),

    'browser.createProfile': async ({ name }) => {
      await profiles.create(name);
      return { created: true, profile: name };
    },

    'browser.deleteProfile': async ({ name }) => {
      await profiles.remove(name);
      return { deleted: true };
    },

    'browser.focus': async ({ tabId, profile }) => {
      await (await profiles.browser(profile)).focus(tabId);
      return { focused: true };
    },

    'browser.close': async ({ tabId, profile }) => {
      await (await profiles.browser(profile)).closeTab(tabId);
      return { closed: true };
    },
  };
}

type Locator = ReturnType<Awaited<ReturnType<DrivenBrowser['page']>>['locator']>;

/** Acts on the first element that a selector names; `NOT_FOUND` where none comes in time. */
async function act(profiles: BrowserProfiles, profile: string, ref: string, work: (element: Locator) => Promise<void>): Promise<void> {
  const page = await (await profiles.browser(profile)).page();
  const element = page.locator(ref).first();
  try {
    await work(element);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (/is not a valid selector|Unexpected token|Unknown engine|while parsing/i.test(message))
      throw new RpcError('INVALID_PARAMS', `ref: ${JSON.stringify(ref.slice(0, 200))} is no selector`, {}, { cause: error });
    const there = await inTime(element.count());
    if (there === 0) throw new RpcError('NOT_FOUND', `The page has no element ${JSON.stringify(ref.slice(0, 200))}`, {}, { cause: error });
    throw told(error, `The element ${JSON.stringify(ref.slice(0, 200))} cannot be used`);
  }
}

/** Runs in the page, not here: an expression, or a function that is called. What it comes to passes as JSON. */
async function evaluate(browser: DrivenBrowser, fn: string): Promise<unknown> {
  const page = await browser.page();
  try {
    const text = await inTime(
      page.evaluate(
        async ([source, most]) => {
          const value: unknown = (0, eval)(`(${source}\n)`);
          const json = JSON.stringify(await (typeof value === 'function' ? (value as () => unknown)() : value)) ?? 'null';
          return json.length > most ? null : json;
        },
        [fn, MAX_RESULT] as const,
      ),
    );
    if (text === null) throw new RpcError('INVALID_PARAMS', `fn: it comes to more than ${MAX_RESULT} characters`);
    return JSON.parse(text);
  } catch (error) {
    throw told(error, 'The page says');
  }
}
