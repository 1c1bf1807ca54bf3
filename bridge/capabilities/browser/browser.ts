import type { browserPort } from '#shared/ports/browser.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { BrowserHappened } from '#shared/rpc/methods/browser.ts';
import type { PortHandlers } from '../../server/serve-port.ts';
import type { DrivenBrowser } from './driven-browser.ts';
import { isRef } from './elements.ts';
import { evaluate } from './evaluate.ts';
import { acted } from './input.ts';
import { LiveViews } from './live-views.ts';
import { inTime, told } from './page-answers.ts';
import type { BrowserProfiles } from './profiles.ts';

const PREVIEW_CHARS = 2_000;

/** Handlers for the agent-controlled browser. */
export function browserHandlers(profiles: BrowserProfiles): PortHandlers<typeof browserPort.calls, typeof browserPort.events> {
  const views = new LiveViews();
  /** Adds the dialogs and downloads that occurred in the meantime to a result. */
  const withNews = async <R extends object>(profile: string, result: R): Promise<R & { happened?: BrowserHappened }> => {
    const happened = await (await profiles.running(profile)?.catch(() => undefined))?.happenings.take();
    return { ...result, ...(happened && { happened }) };
  };
  return {
    'browser.allow': async ({ places, cdpEndpoint }) => {
      await profiles.allow(places, cdpEndpoint);
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
        remote: profiles.remote,
      };
    },

    'browser.start': async ({ profile }) => ({ started: true, sessionId: (await profiles.browser(profile)).sessionId }),

    'browser.stop': async ({ profile }) => {
      await profiles.stop(profile);
      return { started: false };
    },

    'browser.tabs': async ({ profile }) => ({ tabs: (await (await profiles.running(profile)?.catch(() => undefined))?.tabs()) ?? [] }),

    'browser.open': async ({ url, profile }, { signal }) =>
      withNews(profile, { opened: true, ...(await (await profiles.browser(profile)).open(url, signal)) }),

    'browser.navigate': async ({ url, profile }, { signal }) =>
      withNews(profile, { navigated: true, ...(await (await profiles.browser(profile)).navigate(url, signal)) }),

    'browser.click': async ({ ref, profile }, { signal }) => {
      await act(profiles, profile, ref, (element) => element.click({ signal }));
      return withNews(profile, { clicked: true, ref });
    },

    'browser.type': async ({ ref, text, profile }, { signal }) => {
      await act(profiles, profile, ref, (element) => element.fill(text, { signal }));
      return withNews(profile, { typed: true, ref });
    },

    'browser.screenshot': async ({ profile, fullPage }, { signal }) => {
      const page = await (await profiles.browser(profile)).page();
      const picture = await page.screenshot({ fullPage, type: 'png', signal }).catch((error: unknown) => {
        throw told(error, 'Couldn’t take a screenshot');
      });
      return { screenshotB64: picture.toString('base64'), mimeType: 'image/png', sizeBytes: picture.length };
    },

    'browser.snapshot': async ({ profile, mode }, { signal }) => {
      const browser = await profiles.browser(profile);
      const page = await browser.page();
      try {
        const html = await inTime(page.content(), { signal });
        const accessibility = mode === 'accessibility' ? await browser.elements.seen(page) : undefined;
        const place = await browser.place();
        return await withNews(profile, {
          htmlLength: html.length,
          htmlPreview: html.slice(0, PREVIEW_CHARS),
          url: place?.url ?? '',
          title: place?.title ?? '',
          ...(accessibility === undefined ? {} : { accessibility }),
        });
      } catch (error) {
        throw told(error, 'Couldn’t read the page');
      }
    },

    'browser.evaluate': async ({ fn, profile }, { signal }) =>
      withNews(profile, { result: await evaluate(await (await profiles.browser(profile)).page(), fn, signal) }),

    'browser.dialogs': async ({ answer, text, profile }) => {
      (await profiles.browser(profile)).happenings.answer(answer === 'accept', text);
      return { answer, text: text ?? null };
    },

    'browser.download': async ({ downloadId, profile }) => {
      const { filename, content } = await (await profiles.browser(profile)).happenings.file(downloadId);
      return { filename, contentB64: content.toString('base64'), sizeBytes: content.length };
    },

    'browser.view': async (asked, call) => ({ reason: await views.show(await profiles.browser(asked.profile), asked, call) }),

    'browser.viewed': async ({ viewId, frame }) => {
      views.seen(viewId, frame);
      return {};
    },

    'browser.input': async (input, { signal }) => {
      await acted(await profiles.browser(input.profile), input, signal);
      return { done: true };
    },

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

/** Acts on the first element that a selector matches. Throws `NOT_FOUND` if there is none in time. */
async function act(profiles: BrowserProfiles, profile: string, ref: string, work: (element: Locator) => Promise<void>): Promise<void> {
  const browser = await profiles.browser(profile);
  const page = await browser.page();
  const element = isRef(ref) ? await browser.elements.named(page, ref) : page.locator(ref).first();
  try {
    await work(element);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (/is not a valid selector|Unexpected token|Unknown engine|while parsing/i.test(message))
      throw new RpcError('INVALID_PARAMS', `ref: ${JSON.stringify(ref.slice(0, 200))} is not a valid selector`, {}, { cause: error });
    const there = await inTime(element.count());
    if (there === 0) throw new RpcError('NOT_FOUND', `No element ${JSON.stringify(ref.slice(0, 200))} on the page`, {}, { cause: error });
    throw told(error, `Couldn’t use the element ${JSON.stringify(ref.slice(0, 200))}`);
  }
}
