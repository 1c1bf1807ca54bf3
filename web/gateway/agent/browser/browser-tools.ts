import { browserPort } from '#shared/ports/browser-port.ts';
import type { ContractParams, ContractResult } from '#shared/rpc/contract.ts';
import { id } from '#shared/rpc/frames.ts';
import type { browserContracts, BrowserPageEvents } from '#shared/rpc/methods/browser-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Agent } from '../agents.ts';
import { getFilesWorkspace } from '../projects/chat-workspaces.ts';
import { type Bridge, requireCapability } from '../../ports/bridge-interface.ts';
import { type BrowserConfig, getBrowserAccess } from './browser-access.ts';
import { getTextPage } from '../workspace/text-page.ts';
import type { Workspaces } from '../workspace/workspaces.ts';
import { MAX_TEXT_CHARS, toUntrustedText } from '../tools/office-tools.ts';
import { sendPicture } from '../tools/send-picture.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool, ToolContext } from '../tools/tool-registry.ts';
import type { ContentLabels } from '../trust/content-labels.ts';
import { toWebSource } from '../trust/content-sources.ts';
import { requireWebAddress } from '../tools/web-address.ts';

interface BrowserToolsDeps {
  bridge: Pick<Bridge, 'call' | 'provides'>;
  config: BrowserConfig;
  /** Store of downloads. */
  workspaces(): Promise<Pick<Workspaces, 'list' | 'write'>>;
  labels: ContentLabels;
  agent(id: string): Agent;
}

type Calls = typeof browserContracts;
type Download = BrowserPageEvents['downloads'][number];
type PageInfo = { url: string; title: string };

interface BrowserResult extends Record<string, unknown> {
  url?: string | null;
  tabs?: readonly { url: string }[];
  happened?: BrowserPageEvents | undefined;
}

/** Source that stands for any page: dialogs and downloads do not tell which page they belong to. */
const ANY_PAGE = toWebSource('the browser');

/** The source of a page; empty for a blank page. */
function toPageSources(url: string | null | undefined): string[] {
  if (!url || url === 'about:blank') return [];
  return [/^https?:/.test(url) ? toWebSource(url) : ANY_PAGE];
}

/** Workspace folder for downloads. */
const DOWNLOADS_FOLDER = 'downloads';

const profileParam = id.default('default').describe('Browser profile');
const ref = z.string().trim().min(1).max(4096).describe('A ref from the last browser_snapshot, such as s1e12, or a CSS selector');
const tabId = z.string().max(100).describe('Tab id from browser_tabs, such as tab-2');

/** Tools that drive a browser on the bridge's machine. Actions require a person's approval; page content is returned as data. */
export function browserTools({ bridge, config, workspaces, labels, agent }: BrowserToolsDeps): Tool[] {
  /** Elements by ref as the model last saw them, by profile: an approval shows these, not the model's description. */
  const lastSnapshots = new Map<string, { host: string; elements: ReadonlyMap<string, string> }>();
  /** Sources of what the last call returned, by profile. */
  const lastSources = new Map<string, readonly string[]>();
  const call = async <N extends keyof Calls & string>(
    name: N,
    params: ContractParams<Calls[N]>,
    { signal, taint }: ToolContext,
  ): Promise<ContractResult<Calls[N]>> => {
    const { profile = 'default' } = params as { profile?: string };
    await bridge.call(browserPort, 'browser.allow', getBrowserAccess(config), { signal });
    const before = await currentUrl(profile, signal);
    let result: BrowserResult = {};
    try {
      result = await bridge.call(browserPort, name, params as never, { signal });
      return result as ContractResult<Calls[N]>;
    } finally {
      // All page output is outside content, including errors. The page may have navigated since the model last saw it, or during the call.
      const urls = [before, await currentUrl(profile, signal), result.url, ...(result.tabs ?? []).map((tab) => tab.url)];
      const isFromAny = (result.happened?.dialogs ?? []).length + (result.happened?.downloads ?? []).length > 0;
      const found = [...urls.flatMap(toPageSources), ...(isFromAny ? [ANY_PAGE] : [])];
      const sources = found.length > 0 ? found : [ANY_PAGE];
      lastSources.set(profile, sources);
      taint?.add(sources);
    }
  };
  /** Undefined if the browser does not respond. */
  const currentUrl = async (profile: string, signal: AbortSignal): Promise<string | null | undefined> =>
    (await bridge.call(browserPort, 'browser.status', { profile }, { signal }).catch(() => undefined))?.url;
  const check = (): void => requireCapability(bridge, browserPort);
  /** Stores a download in the agent's workspace; returns its path, or the reason why it failed. */
  const saveDownload = async (profile: string, { downloadId, filename, error }: Download, context: ToolContext): Promise<string> => {
    if (error !== null) return `Couldn’t download ${filename}: ${error}`;
    try {
      const file = await call('browser.download', { downloadId, profile }, context);
      const [to, workspace] = [await workspaces(), getFilesWorkspace(agent(context.agentId), context.project)];
      const existingPaths = new Set((await to.list(workspace, DOWNLOADS_FOLDER)).map(({ path }) => path));
      const path = toFreePath(filename, existingPaths);
      await labels.add('file', `${workspace}/${path}`, lastSources.get(profile) ?? [ANY_PAGE]);
      await to.write(workspace, { path, content: file.contentB64, encoding: 'base64' });
      return `Downloaded to your workspace: ${path} (${file.sizeBytes} bytes)`;
    } catch (failure) {
      context.signal.throwIfAborted();
      return `Couldn’t save ${filename}: ${failure instanceof Error ? failure.message : String(failure)}`;
    }
  };
  /** Dialogs and downloads of pages, one line each. */
  const describeEvents = async (
    profile: string,
    { happened }: { happened?: BrowserPageEvents | undefined },
    context: ToolContext,
  ): Promise<string> => {
    const dialogs = (happened?.dialogs ?? []).map(
      ({ kind, message, accepted, text }) =>
        `The page showed a dialog (${kind}), which was ${accepted ? 'accepted' : 'dismissed'}${text === undefined ? '' : ` with ${JSON.stringify(text)}`}: ${message}`,
    );
    const files: string[] = [];
    for (const download of happened?.downloads ?? []) files.push(await saveDownload(profile, download, context));
    return [...dialogs, ...files].join('\n');
  };
  const toActionResult = async (
    profile: string,
    { happened, ...result }: { happened?: BrowserPageEvents | undefined },
    context: ToolContext,
  ): Promise<unknown> => {
    const text = await describeEvents(profile, { happened }, context);
    return text === '' ? result : { ...result, ...toUntrustedText({ text }) };
  };
  const describeElement = (profile: string, element: string): string => {
    const last = lastSnapshots.get(profile);
    return `${last?.elements.get(element) ?? JSON.stringify(element)}${last ? ` on ${last.host}` : ''}`;
  };
  return [
    defineTool({
      name: 'browser_open',
      title: 'Open web page',
      summary: 'Opens a web page in the agent’s browser.',
      description: 'Opens a URL in your browser. browser_snapshot reads the page.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({
        url: z.string().trim().min(1).max(8192).describe('https:// or http://'),
        newTab: z.boolean().default(false).describe('Open in a new tab'),
        profile: profileParam,
      }),
      // A URL can send data off this machine.
      effect: ({ url }) => `Open ${URL.parse(url)?.href ?? url} in the browser`,
      check({ url }) {
        check();
        requireWebAddress(url);
      },
      impact: ({ url }, { taint }) => (taint?.hasUrl(url) ? 'reads' : 'changes'),
      async run({ url, newTab, profile }, context) {
        if (!newTab) {
          const page = await call('browser.navigate', { url, profile }, context);
          return { opened: true, ...toPageContent(page, await describeEvents(profile, page, context)) };
        }
        const { tabId: tab, ...content } = await call('browser.open', { url, profile }, context);
        return { opened: true, tabId: tab, ...toPageContent(content, await describeEvents(profile, content, context)) };
      },
    }),
    defineTool({
      name: 'browser_snapshot',
      title: 'Read browser page',
      summary: 'Reads the text and controls of the page in the agent’s browser.',
      description: 'Reads the page in your browser: its text and elements, each with a ref for browser_click and browser_type.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({
        offset: z.number().int().min(0).default(0).describe('As given in "next"'),
        maxChars: z.number().int().min(100).max(MAX_TEXT_CHARS).default(20_000).describe('Maximum characters'),
        profile: profileParam,
      }),
      impact: 'reads',
      check,
      async run({ offset, maxChars, profile }, context) {
        const { accessibility = '', ...page } = await call('browser.snapshot', { profile, mode: 'accessibility' }, context);
        lastSnapshots.set(profile, { host: URL.parse(page.url)?.host || page.url, elements: parseElements(accessibility) });
        const { content, nextOffset } = getTextPage(accessibility, offset, maxChars);
        return {
          ...(nextOffset === null ? {} : { next: nextOffset }),
          ...toPageContent(page, await describeEvents(profile, page, context), content),
        };
      },
    }),
    defineTool({
      name: 'browser_click',
      title: 'Click in browser',
      summary: 'Clicks an element of the page in the agent’s browser.',
      description: 'Clicks a link, button or other element of the page in your browser.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({ ref, profile: profileParam }),
      effect: ({ ref: element, profile }) => `Click ${describeElement(profile, element)} in the browser`,
      check,
      async run({ ref: element, profile }, context) {
        return toActionResult(profile, await call('browser.click', { ref: element, profile }, context), context);
      },
    }),
    defineTool({
      name: 'browser_type',
      title: 'Type in browser',
      summary: 'Fills in a field of the page in the agent’s browser.',
      description: 'Fills in a field of the page in your browser.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({ ref, text: z.string().max(100_000), profile: profileParam }),
      effect: ({ ref: element, text, profile }) => `Type ${JSON.stringify(text)} into ${describeElement(profile, element)} in the browser`,
      check,
      async run({ ref: element, text, profile }, context) {
        return toActionResult(profile, await call('browser.type', { ref: element, text, profile }, context), context);
      },
    }),
    defineTool({
      name: 'browser_evaluate',
      title: 'Run JavaScript in browser',
      summary: 'Runs JavaScript in the page in the agent’s browser.',
      description: 'Runs JavaScript in the page in your browser and returns the result as JSON.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({
        fn: z.string().min(1).max(100_000).describe('Expression, function or statements, with await'),
        profile: profileParam,
      }),
      effect: ({ fn }) => `Run JavaScript in the browser: ${fn}`,
      check,
      async run({ fn, profile }, context) {
        const { result, ...rest } = await call('browser.evaluate', { fn, profile }, context);
        const { content, nextOffset } = getTextPage(JSON.stringify(result), 0, MAX_TEXT_CHARS);
        const text = joinLines(await describeEvents(profile, rest, context), content);
        return { ...(nextOffset === null ? {} : { cut: true }), ...toUntrustedText({ text }) };
      },
    }),
    defineTool({
      name: 'browser_screenshot',
      title: 'Take browser screenshot',
      summary: 'Takes a screenshot of the page in the agent’s browser.',
      description: 'Takes a screenshot of the page in your browser, for you and for the user.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({ fullPage: z.boolean().default(false).describe('Not just the visible part'), profile: profileParam }),
      impact: 'reads',
      check,
      async run({ fullPage, profile }, context) {
        const picture = await call('browser.screenshot', { fullPage, profile }, context);
        const page = await call('browser.status', { profile }, context);
        const sent = sendPicture(context, {
          data: picture.screenshotB64,
          mimeType: picture.mimeType,
          size: picture.sizeBytes,
          name: 'page',
        });
        return { ...sent, ...toPageContent({ url: page.url ?? '', title: page.title ?? '' }) };
      },
    }),
    defineTool({
      name: 'browser_dialogs',
      title: 'Set browser dialog answers',
      summary: 'Sets how dialogs of web pages are answered.',
      description: 'Sets how dialogs of web pages are answered. Default: alerts are accepted, questions dismissed.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({
        answer: z.enum(['accept', 'dismiss']),
        text: z.string().max(10_000).optional().describe('Text for prompts'),
        profile: profileParam,
      }),
      asksWhen: 'Asks before dialogs are accepted; dismissing them needs no approval.',
      effect: ({ answer, text, profile }) => {
        const host = lastSnapshots.get(profile)?.host;
        if (answer === 'dismiss') return undefined;
        return `Accept dialogs in the browser${host === undefined ? '' : `, now on ${host}`}${text === undefined ? '' : `, with ${JSON.stringify(text)}`}`;
      },
      impact: ({ answer }) => (answer === 'dismiss' ? 'reads' : 'changes'),
      check,
      run: (args, context) => call('browser.dialogs', args, context),
    }),
    defineTool({
      name: 'browser_tabs',
      title: 'List browser tabs',
      summary: 'Lists the open tabs of the agent’s browser.',
      description: 'Lists the open tabs of your browser.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({ profile: profileParam }),
      impact: 'reads',
      check,
      async run({ profile }, context) {
        const { tabs } = await call('browser.tabs', { profile }, context);
        return { count: tabs.length, ...toUntrustedText({ text: JSON.stringify(tabs) }) };
      },
    }),
    defineTool({
      name: 'browser_focus',
      title: 'Switch browser tab',
      summary: 'Switches to another tab of the agent’s browser.',
      description: 'Switches to a tab of your browser.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({ tabId, profile: profileParam }),
      impact: 'reads',
      check,
      run: (args, context) => call('browser.focus', args, context),
    }),
    defineTool({
      name: 'browser_close',
      title: 'Close browser tab',
      summary: 'Closes a tab of the agent’s browser, or the whole browser.',
      description: 'Closes a tab of your browser, or all of it.',
      source: 'bridge',
      scope: 'browser',
      params: z.strictObject({ tabId: tabId.optional(), profile: profileParam }),
      effect: ({ tabId: tab }) => `Close ${tab ?? 'all tabs'} in the browser`,
      check,
      async run({ tabId: tab, profile }, context) {
        if (tab !== undefined) return call('browser.close', { tabId: tab, profile }, context);
        await call('browser.stop', { profile }, context);
        return { closed: true };
      },
    }),
  ];
}

/** The browser's address and page content, as outside content for the model. */
const toPageContent = ({ url, title }: PageInfo, news = '', body = ''): ReturnType<typeof toUntrustedText> =>
  toUntrustedText({ text: joinLines(`Address: ${url}`, `Title: ${title}`, news, ...(body === '' ? [] : [`\n${body}`])) });

const joinLines = (...parts: string[]): string => parts.filter((part) => part !== '').join('\n');

/** A free path for a file whose name comes from a page. */
function toFreePath(filename: string, existingPaths: ReadonlySet<string>): string {
  const name =
    filename
      .normalize('NFC')
      .replace(/[/\\\p{Cc}\p{Cs}]/gu, '_')
      .replace(/^\.+/, '')
      .slice(0, 200) || 'file';
  const [, stem = name, ending = ''] = /^(.+?)(\.[^.]*)?$/su.exec(name) ?? [];
  for (let count = 1; ; count++) {
    const path = `${DOWNLOADS_FOLDER}/${count === 1 ? name : `${stem}-${count}${ending}`}`;
    if (!existingPaths.has(path)) return path;
  }
}

/**
 * A line of an accessibility snapshot: role and name, followed by attributes in brackets. Page text comes later in the line, or in quotes.
 */
const ELEMENT = /^\s*- '?([a-z]+(?: "(?:[^"\\]|\\.)*")?)((?: \[[^\]]*\])+)/;

/** Description of each element with a ref in an accessibility snapshot, such as `button "Buy"`. */
function parseElements(snapshot: string): ReadonlyMap<string, string> {
  const found = snapshot.split('\n').flatMap((line) => {
    const [, description = '', marks = ''] = ELEMENT.exec(line) ?? [];
    const [, own] = /\[ref=(\w+)\]/.exec(marks) ?? [];
    return own === undefined ? [] : [[own, description.slice(0, 200)] as const];
  });
  return new Map(found);
}
