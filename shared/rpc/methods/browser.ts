import { call } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

const profile = id.default('default');
const tabId = z
  .string()
  .max(100)
  .regex(/^tab-\d+$/, 'must be tab-1 or the like');
const url = z.string().min(1).max(8192);
/** A ref of an accessibility snapshot (`s1e12`), a CSS selector, or one of Playwright's (`text=…`, `role=…`). */
const ref = z.string().min(1).max(4096);

const tab = z.object({ tabId: z.string(), url: z.string(), title: z.string(), active: z.boolean() });
export type BrowserTab = z.infer<typeof tab>;

/** What has come up since the last result that said it: the pages' own words. */
const happened = z.object({
  /** Questions and notices of pages, and how they were answered; `text` is what a prompt was given. */
  dialogs: z.array(z.object({ kind: z.string(), message: z.string(), accepted: z.boolean(), text: z.string().optional() })),
  /** What pages had downloaded; `error` says why it is not there. */
  downloads: z.array(
    z.object({ downloadId: z.string(), filename: z.string(), sizeBytes: z.number().int().nullable(), error: z.string().nullable() }),
  ),
});
export type BrowserHappened = z.infer<typeof happened>;
const acted = { happened: happened.optional() };

/** A browser that agents and programs drive, on the bridge's machine (interface document 1, section 4.1). */
export const browser = {
  'browser.status': call({
    params: z.strictObject({ profile }),
    result: z.object({
      started: z.boolean(),
      profile: z.string(),
      tabCount: z.number().int(),
      url: z.string().nullable(),
      title: z.string().nullable(),
      remote: z.boolean(),
    }),
    docs: 'Whether the browser of a profile runs, and where its current tab is. `remote`: it is the one that `browser.cdpEndpoint` names, and the guard of private places judges only the addresses that are asked for, not what pages go to by themselves.',
    policy: { scope: 'read' },
  }),
  'browser.start': call({
    params: z.strictObject({ profile }),
    result: z.object({ started: z.literal(true), sessionId: z.string() }),
    docs: 'Starts the browser of a profile; one that runs stays as it is. Other calls start it by themselves.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.stop': call({
    params: z.strictObject({ profile }),
    result: z.object({ started: z.literal(false) }),
    docs: 'Stops the browser of a profile; what it has stored stays.',
    policy: { scope: 'write' },
  }),
  'browser.tabs': call({
    params: z.strictObject({ profile }),
    result: z.object({ tabs: z.array(tab) }),
    docs: 'Lists tabs, oldest first.',
    policy: { scope: 'read' },
  }),
  'browser.open': call({
    params: z.strictObject({ url, profile }),
    result: z.object({ opened: z.literal(true), tabId: z.string(), url: z.string(), title: z.string(), ...acted }),
    docs: 'Opens an address in a new tab, which becomes the current one; 30 s at the most.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.navigate': call({
    params: z.strictObject({ url, profile }),
    result: z.object({ navigated: z.literal(true), url: z.string(), title: z.string(), ...acted }),
    docs: 'Goes to an address in the current tab; 30 s at the most.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.click': call({
    params: z.strictObject({ ref, profile }),
    result: z.object({ clicked: z.literal(true), ref: z.string(), ...acted }),
    docs: 'Clicks the element that a ref of `browser.snapshot` names, or the first one of a CSS selector, once it can be clicked; 10 s at the most.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.type': call({
    params: z.strictObject({ ref, text: z.string().max(100_000), profile }),
    result: z.object({ typed: z.literal(true), ref: z.string(), ...acted }),
    docs: 'Fills a text into an element, in the place of what is in it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.screenshot': call({
    params: z.strictObject({ profile, fullPage: z.boolean().default(false) }),
    result: z.object({ screenshotB64: z.string(), mimeType: z.literal('image/png'), sizeBytes: z.number().int() }),
    docs: 'A picture of the current tab, or of its whole page: PNG in base64.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'browser.snapshot': call({
    params: z.strictObject({ profile, mode: z.enum(['html', 'accessibility']).default('html') }),
    result: z.object({
      htmlLength: z.number().int(),
      htmlPreview: z.string(),
      url: z.string(),
      title: z.string(),
      accessibility: z.string().optional(),
      ...acted,
    }),
    docs: 'The current page’s DOM: its length, and the first 2,000 characters. With `mode` `accessibility` also what a screen reader has of it, 200,000 characters at most, each element with a `[ref=…]` that stays the same while the page and the element do.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'browser.evaluate': call({
    params: z.strictObject({ fn: z.string().min(1).max(100_000), profile }),
    result: z.object({ result: z.unknown(), ...acted }),
    docs: 'Runs JavaScript in the page, an expression or a function, and gives what it comes to as JSON; 10 s at the most.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.profiles': call({
    params: z.strictObject({}),
    result: z.object({ profiles: z.array(z.object({ name: z.string(), started: z.boolean() })) }),
    docs: 'Lists profiles, each with cookies and storage of its own.',
    policy: { scope: 'read' },
  }),
  'browser.createProfile': call({
    params: z.strictObject({ name: id }),
    result: z.object({ created: z.literal(true), profile: z.string() }),
    docs: 'Creates a profile.',
    fails: ['ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'browser.deleteProfile': call({
    params: z.strictObject({ name: id }),
    result: z.object({ deleted: z.literal(true) }),
    docs: 'Stops a profile’s browser and deletes all that it has stored. The profile `default` stays.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.focus': call({
    params: z.strictObject({ tabId, profile }),
    result: z.object({ focused: z.literal(true) }),
    docs: 'Makes a tab the current one.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.close': call({
    params: z.strictObject({ tabId, profile }),
    result: z.object({ closed: z.literal(true) }),
    docs: 'Closes a tab.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.dialogs': call({
    params: z.strictObject({ answer: z.enum(['accept', 'dismiss']), text: z.string().max(10_000).optional(), profile }),
    result: z.object({ answer: z.enum(['accept', 'dismiss']), text: z.string().nullable() }),
    docs: 'How the questions of pages (confirm, prompt, leaving) are answered from here on, until the browser stops: with `text` where one is asked for. By default notices are accepted and questions dismissed. What was asked is told as `happened` in the next result.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.download': call({
    params: z.strictObject({ downloadId: z.string().min(1).max(100), profile }),
    result: z.object({ filename: z.string(), contentB64: z.string(), sizeBytes: z.number().int() }),
    docs: 'A file that a page had downloaded, as `happened` named it, in base64; the newest 20 are kept until the browser stops. Downloads under way may have 8 MiB together.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
