import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

const profile = id.default('default');
const tabId = z
  .string()
  .max(100)
  .regex(/^tab-\d+$/, 'must be a tab id such as tab-1');
const url = z.string().min(1).max(8192);
/** A ref of an accessibility snapshot (`s1e12`), a CSS selector, or a Playwright selector (`text=…`, `role=…`). */
const ref = z.string().min(1).max(4096);

const browserTab = z.object({ tabId: z.string(), url: z.string(), title: z.string(), active: z.boolean() });
export type BrowserTab = z.infer<typeof browserTab>;

/** A file downloaded by a page. `error` says why it is not available. */
export const download = z.object({
  downloadId: z.string(),
  filename: z.string(),
  sizeBytes: z.number().int().nullable(),
  error: z.string().nullable(),
});

/** Dialogs and downloads since the last result that reported them. The texts come from the pages. */
const pageEvents = z.object({
  /** Dialogs of pages and how they were answered. `text` is the input given to a prompt. */
  dialogs: z.array(z.object({ kind: z.string(), message: z.string(), accepted: z.boolean(), text: z.string().optional() })),
  /** Files downloaded by pages. */
  downloads: z.array(download),
});
export type BrowserPageEvents = z.infer<typeof pageEvents>;
const withPageEvents = { happened: pageEvents.optional() };

/** The browser on the bridge's machine that agents and API clients control. */
export const browserContracts = {
  'browser.status': defineMethod({
    params: z.strictObject({ profile }),
    result: z.object({
      started: z.boolean(),
      profile: z.string(),
      tabCount: z.number().int(),
      url: z.string().nullable(),
      title: z.string().nullable(),
      remote: z.boolean(),
    }),
    docs: 'Returns whether the browser of a profile is running, and the page of its current tab. `remote` is true if it is the browser named by `browser.cdpEndpoint`; private addresses are then blocked only if they are requested directly, not if a page navigates to them.',
    policy: { scope: 'read' },
  }),
  'browser.start': defineMethod({
    params: z.strictObject({ profile }),
    result: z.object({ started: z.literal(true), sessionId: z.string() }),
    docs: 'Starts the browser of a profile. Does nothing if it is running. Other methods start it automatically.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.stop': defineMethod({
    params: z.strictObject({ profile }),
    result: z.object({ started: z.literal(false) }),
    docs: 'Stops the browser of a profile. Its stored data is kept.',
    policy: { scope: 'write' },
  }),
  'browser.tabs': defineMethod({
    params: z.strictObject({ profile }),
    result: z.object({ tabs: z.array(browserTab) }),
    docs: 'Lists the open tabs, oldest first.',
    policy: { scope: 'read' },
  }),
  'browser.open': defineMethod({
    params: z.strictObject({ url, profile }),
    result: z.object({ opened: z.literal(true), tabId: z.string(), url: z.string(), title: z.string(), ...withPageEvents }),
    docs: 'Opens a URL in a new tab and makes it the current one. Times out after 30 s. For a place on the bridge’s own computer that `browser.allow` does not have, a person’s call waits for an approval, which adds the place; calls of API keys are refused.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.navigate': defineMethod({
    params: z.strictObject({ url, profile }),
    result: z.object({ navigated: z.literal(true), url: z.string(), title: z.string(), ...withPageEvents }),
    docs: 'Loads a URL in the current tab. Times out after 30 s. Places on the bridge’s own computer are approved as for `browser.open`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.click': defineMethod({
    params: z.strictObject({ ref, profile }),
    result: z.object({ clicked: z.literal(true), ref: z.string(), ...withPageEvents }),
    docs: 'Clicks an element, given as a ref from `browser.snapshot` or as a CSS selector (first match), as soon as it can be clicked. Times out after 10 s.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.type': defineMethod({
    params: z.strictObject({ ref, text: z.string().max(100_000), profile }),
    result: z.object({ typed: z.literal(true), ref: z.string(), ...withPageEvents }),
    docs: 'Replaces the text of an element.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.screenshot': defineMethod({
    params: z.strictObject({ profile, fullPage: z.boolean().default(false) }),
    result: z.object({ screenshotB64: z.string(), mimeType: z.literal('image/png'), sizeBytes: z.number().int() }),
    docs: 'Takes a screenshot of the current tab, or of the full page, as a base64-encoded PNG.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'browser.snapshot': defineMethod({
    params: z.strictObject({ profile, mode: z.enum(['html', 'accessibility']).default('html') }),
    result: z.object({
      htmlLength: z.number().int(),
      htmlPreview: z.string(),
      url: z.string(),
      title: z.string(),
      accessibility: z.string().optional(),
      ...withPageEvents,
    }),
    docs: 'Returns the length of the current page’s HTML and its first 2,000 characters. With `mode: "accessibility"` also returns the accessibility tree, up to 200,000 characters. Each element has a `[ref=…]` that stays valid for as long as the page and the element exist.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'browser.evaluate': defineMethod({
    params: z.strictObject({ fn: z.string().min(1).max(100_000), profile }),
    result: z.object({ result: z.unknown(), ...withPageEvents }),
    docs: 'Runs JavaScript in the page and returns the result as JSON: an expression, a function, or statements, with `await`. The result of statements is what they `return` or the value of the last one. A syntax error is `INVALID_PARAMS`. Times out after 10 s.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.profiles': defineMethod({
    params: z.strictObject({}),
    result: z.object({ profiles: z.array(z.object({ name: z.string(), started: z.boolean() })) }),
    docs: 'Lists the profiles. Each has its own cookies and storage.',
    policy: { scope: 'read' },
  }),
  'browser.createProfile': defineMethod({
    params: z.strictObject({ name: id }),
    result: z.object({ created: z.literal(true), profile: z.string() }),
    docs: 'Creates a profile.',
    fails: ['ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'browser.deleteProfile': defineMethod({
    params: z.strictObject({ name: id }),
    result: z.object({ deleted: z.literal(true) }),
    docs: 'Stops the browser of a profile and deletes all its data. The profile `default` cannot be deleted.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.focus': defineMethod({
    params: z.strictObject({ tabId, profile }),
    result: z.object({ focused: z.literal(true) }),
    docs: 'Makes a tab the current one.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.close': defineMethod({
    params: z.strictObject({ tabId, profile }),
    result: z.object({ closed: z.literal(true) }),
    docs: 'Closes a tab.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.dialogs': defineMethod({
    params: z.strictObject({ answer: z.enum(['accept', 'dismiss']), text: z.string().max(10_000).optional(), profile }),
    result: z.object({ answer: z.enum(['accept', 'dismiss']), text: z.string().nullable() }),
    docs: 'Sets how dialogs of pages (confirm, prompt, beforeunload) are answered until the browser stops; `text` is the input for prompts. By default alerts are accepted and all other dialogs are dismissed. Dialogs are reported as `happened` in the next result.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'browser.download': defineMethod({
    params: z.strictObject({ downloadId: z.string().min(1).max(100), profile }),
    result: z.object({ filename: z.string(), contentB64: z.string(), sizeBytes: z.number().int() }),
    docs: 'Returns a file downloaded by a page, as reported in `happened`, base64-encoded. The newest 20 downloads are kept until the browser stops. Downloads in progress may have up to 8 MiB in total.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
