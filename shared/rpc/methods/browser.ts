import { call } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

const profile = id.default('default');
const tabId = z
  .string()
  .max(100)
  .regex(/^tab-\d+$/, 'must be tab-1 or the like');
const url = z.string().min(1).max(8192);
/** A CSS selector, or one of Playwright's (`text=…`, `role=…`). */
const ref = z.string().min(1).max(4096);

const tab = z.object({ tabId: z.string(), url: z.string(), title: z.string(), active: z.boolean() });
export type BrowserTab = z.infer<typeof tab>;

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
    }),
    docs: 'Whether the browser of a profile runs, and where its current tab is.',
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
    result: z.object({ opened: z.literal(true), tabId: z.string(), url: z.string(), title: z.string() }),
    docs: 'Opens an address in a new tab, which becomes the current one; 30 s at the most.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.navigate': call({
    params: z.strictObject({ url, profile }),
    result: z.object({ navigated: z.literal(true), url: z.string(), title: z.string() }),
    docs: 'Goes to an address in the current tab; 30 s at the most.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.click': call({
    params: z.strictObject({ ref, profile }),
    result: z.object({ clicked: z.literal(true), ref: z.string() }),
    docs: 'Clicks the first element that a CSS selector names, once it can be clicked; 10 s at the most.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.type': call({
    params: z.strictObject({ ref, text: z.string().max(100_000), profile }),
    result: z.object({ typed: z.literal(true), ref: z.string() }),
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
    params: z.strictObject({ profile }),
    result: z.object({ htmlLength: z.number().int(), htmlPreview: z.string(), url: z.string(), title: z.string() }),
    docs: 'The current page’s DOM: its length, and the first 2,000 characters.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'browser.evaluate': call({
    params: z.strictObject({ fn: z.string().min(1).max(100_000), profile }),
    result: z.object({ result: z.unknown() }),
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
};
