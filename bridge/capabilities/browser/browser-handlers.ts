import type { browserPort } from '#shared/ports/browser-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { BrowserPageEvents } from '#shared/rpc/methods/browser-contracts.ts';
import type { PortHandlers } from '../serve-port.ts';
import type { DrivenBrowser } from './driven-browser.ts';
import { isRef } from './elements.ts';
import { evaluate } from './evaluate.ts';
import { LiveViews } from './live-views.ts';
import { withTimeout, toRpcError } from './playwright-errors.ts';
import type { BrowserProfiles } from './browser-profiles.ts';
import type { Page } from 'playwright';
import type { BrowserInput } from '#shared/rpc/methods/browser-view-contracts.ts';

const PREVIEW_CHARS = 2_000;

/** Handlers for the agent-controlled browser. */
export function createBrowserHandlers(profiles: BrowserProfiles): PortHandlers<typeof browserPort.calls, typeof browserPort.events> {
  const views = new LiveViews();
  /** Adds the dialogs and downloads that occurred in the meantime to a result. */
  const withNews = async <R extends object>(profile: string, result: R): Promise<R & { happened?: BrowserPageEvents }> => {
    const happened = await (await profiles.getRunning(profile)?.catch(() => undefined))?.pageEvents.takeEvents();
    return { ...result, ...(happened && { happened }) };
  };
  return {
    'browser.allow': async ({ places, cdpEndpoint }) => {
      await profiles.allow(places, cdpEndpoint);
      return {};
    },

    'browser.status': async ({ profile }) => {
      const running = await profiles.getRunning(profile)?.catch(() => undefined);
      const page = (await running?.getCurrentPage()) ?? null;
      return {
        started: running !== undefined,
        profile,
        tabCount: running?.tabCount ?? 0,
        url: page?.url ?? null,
        title: page?.title ?? null,
        remote: profiles.isRemote,
      };
    },

    'browser.start': async ({ profile }) => ({ started: true, sessionId: (await profiles.getBrowser(profile)).sessionId }),

    'browser.stop': async ({ profile }) => {
      await profiles.stop(profile);
      return { started: false };
    },

    'browser.tabs': async ({ profile }) => ({ tabs: (await (await profiles.getRunning(profile)?.catch(() => undefined))?.tabs()) ?? [] }),

    'browser.open': async ({ url, profile }, { signal }) =>
      withNews(profile, { opened: true, ...(await (await profiles.getBrowser(profile)).open(url, signal)) }),

    'browser.navigate': async ({ url, profile }, { signal }) =>
      withNews(profile, { navigated: true, ...(await (await profiles.getBrowser(profile)).navigate(url, signal)) }),

    'browser.click': async ({ ref, profile }, { signal }) => {
      await actOnFirst(profiles, profile, ref, (element) => element.click({ signal }));
      return withNews(profile, { clicked: true, ref });
    },

    'browser.type': async ({ ref, text, profile }, { signal }) => {
      await actOnFirst(profiles, profile, ref, (element) => element.fill(text, { signal }));
      return withNews(profile, { typed: true, ref });
    },

    'browser.screenshot': async ({ profile, fullPage }, { signal }) => {
      const page = await (await profiles.getBrowser(profile)).page();
      const picture = await page.screenshot({ fullPage, type: 'png', signal }).catch((error: unknown) => {
        throw toRpcError(error, 'Couldn’t take a screenshot');
      });
      return { screenshotB64: picture.toString('base64'), mimeType: 'image/png', sizeBytes: picture.length };
    },

    'browser.snapshot': async ({ profile, mode }, { signal }) => {
      const browser = await profiles.getBrowser(profile);
      const page = await browser.page();
      try {
        const html = await withTimeout(page.content(), { signal });
        const accessibility = mode === 'accessibility' ? await browser.elements.snapshot(page) : undefined;
        const currentPage = await browser.getCurrentPage();
        return await withNews(profile, {
          htmlLength: html.length,
          htmlPreview: html.slice(0, PREVIEW_CHARS),
          url: currentPage?.url ?? '',
          title: currentPage?.title ?? '',
          ...(accessibility === undefined ? {} : { accessibility }),
        });
      } catch (error) {
        throw toRpcError(error, 'Couldn’t read the page');
      }
    },

    'browser.evaluate': async ({ fn, profile }, { signal }) =>
      withNews(profile, { result: await evaluate(await (await profiles.getBrowser(profile)).page(), fn, signal) }),

    'browser.dialogs': async ({ answer, text, profile }) => {
      (await profiles.getBrowser(profile)).pageEvents.setDialogPolicy(answer === 'accept', text);
      return { answer, text: text ?? null };
    },

    'browser.download': async ({ downloadId, profile }) => {
      const { filename, content } = await (await profiles.getBrowser(profile)).pageEvents.getFile(downloadId);
      return { filename, contentB64: content.toString('base64'), sizeBytes: content.length };
    },

    'browser.view': async (request, call) => ({ reason: await views.show(await profiles.getBrowser(request.profile), request, call) }),

    'browser.viewed': async ({ viewId, frame }) => {
      views.acknowledge(viewId, frame);
      return {};
    },

    'browser.input': async (input, { signal }) => {
      await dispatchInput(await profiles.getBrowser(input.profile), input, signal);
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
      await (await profiles.getBrowser(profile)).focus(tabId);
      return { focused: true };
    },

    'browser.close': async ({ tabId, profile }) => {
      await (await profiles.getBrowser(profile)).closeTab(tabId);
      return { closed: true };
    },
  };
}

type PlaywrightLocator = ReturnType<Awaited<ReturnType<DrivenBrowser['page']>>['locator']>;

/** Acts on the first element that a selector matches. Throws `NOT_FOUND` if there is none in time. */
async function actOnFirst(
  profiles: BrowserProfiles,
  profile: string,
  ref: string,
  work: (element: PlaywrightLocator) => Promise<void>,
): Promise<void> {
  const browser = await profiles.getBrowser(profile);
  const page = await browser.page();
  const element = isRef(ref) ? await browser.elements.getElement(page, ref) : page.locator(ref).first();
  try {
    await work(element);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    if (/is not a valid selector|Unexpected token|Unknown engine|while parsing/i.test(message))
      throw new RpcError('INVALID_PARAMS', `ref: ${JSON.stringify(ref.slice(0, 200))} is not a valid selector`, {}, { cause: error });
    const matchCount = await withTimeout(element.count());
    if (matchCount === 0)
      throw new RpcError('NOT_FOUND', `No element ${JSON.stringify(ref.slice(0, 200))} on the page`, {}, { cause: error });
    throw toRpcError(error, `Couldn’t use the element ${JSON.stringify(ref.slice(0, 200))}`);
  }
}

/** Performs a user's mouse or keyboard action in a tab. */
async function dispatchInput(browser: DrivenBrowser, input: BrowserInput, signal: AbortSignal): Promise<void> {
  const page = input.tabId === undefined ? await browser.page() : browser.tab(input.tabId);
  try {
    await withTimeout(performInput(page, input), { signal });
  } catch (error) {
    if (error instanceof Error && /Unknown key/.test(error.message))
      throw new RpcError('INVALID_PARAMS', 'key: unknown key', {}, { cause: error });
    throw toRpcError(error, 'Couldn’t send input to the page');
  }
}

/** The contract ensures that the fields of each input type are set. */
async function performInput({ mouse, keyboard }: Page, { type, x = 0, y = 0, ...input }: BrowserInput): Promise<void> {
  const { button = 'left', count: clickCount = 1 } = input;
  switch (type) {
    case 'click':
      return mouse.click(x, y, { button, clickCount });
    case 'press':
      await mouse.move(x, y);
      return mouse.down({ button, clickCount });
    case 'release':
      await mouse.move(x, y);
      return mouse.up({ button, clickCount });
    case 'move':
      return mouse.move(x, y);
    case 'wheel':
      await mouse.move(x, y);
      return mouse.wheel(input.deltaX ?? 0, input.deltaY ?? 0);
    case 'key':
      return keyboard.press(input.key ?? '');
    case 'text':
      return keyboard.insertText(input.text ?? '');
  }
}
