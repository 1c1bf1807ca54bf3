import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

const profile = id.default('default');
const tabId = z
  .string()
  .max(100)
  .regex(/^tab-\d+$/, 'must be a tab id such as tab-1');
const imageSide = z.number().int().min(100).max(4096);
/** A position in the page, in pixels from the top left corner of the viewport. */
const pageCoordinate = z.number().min(0).max(100_000);
const tabTarget = { profile, tabId: tabId.optional() };
const distance = z.number().min(-100_000).max(100_000);

export const imageOptions = {
  /** Maximum size of the image in pixels. */
  maxWidth: imageSide.default(1280),
  maxHeight: imageSide.default(800),
  /** JPEG quality in percent. */
  quality: z.number().int().min(1).max(100).default(60),
};

/** An image of a tab. */
export const browserFrame = {
  /** Number of the frame, to be passed to `browser.seen`. */
  frame: z.number().int().positive(),
  tabId: z.string(),
  /** A base64-encoded JPEG. */
  data: z.string(),
  /** Size of the viewport in CSS pixels, the unit of `browser.input`. The image may be smaller. */
  width: z.number().positive(),
  height: z.number().positive(),
};

/** Required and optional fields of each type of input. */
const INPUT_FIELDS = {
  click: [
    ['x', 'y'],
    ['button', 'count'],
  ],
  press: [
    ['x', 'y'],
    ['button', 'count'],
  ],
  release: [
    ['x', 'y'],
    ['button', 'count'],
  ],
  move: [['x', 'y'], []],
  wheel: [
    ['x', 'y'],
    ['deltaX', 'deltaY'],
  ],
  key: [['key'], []],
  text: [['text'], []],
} as const;

const browserInput = z
  .strictObject({
    type: z.enum(['click', 'press', 'release', 'move', 'wheel', 'key', 'text']),
    ...tabTarget,
    x: pageCoordinate.optional(),
    y: pageCoordinate.optional(),
    button: z.enum(['left', 'middle', 'right']).optional(),
    count: z.number().int().min(1).max(3).optional(),
    deltaX: distance.optional(),
    deltaY: distance.optional(),
    /** The key with its modifiers: `Enter`, `a`, `Control+A`. */
    key: z.string().min(1).max(100).optional(),
    text: z.string().min(1).max(10_000).optional(),
  })
  .superRefine((input, { addIssue }) => {
    const [required, allowed] = INPUT_FIELDS[input.type];
    const present = Object.keys(input).filter((name) => Object.hasOwn(input, name) && !['type', 'profile', 'tabId'].includes(name));
    const allFields: readonly string[] = [...required, ...allowed];
    for (const name of required)
      if (input[name] === undefined) addIssue({ code: 'custom', path: [name], message: `is required for ${input.type}` });
    for (const name of present)
      if (!allFields.includes(name)) addIssue({ code: 'custom', path: [name], message: `is not allowed for ${input.type}` });
  });
export type BrowserInput = z.infer<typeof browserInput>;

/** View and remote control of the driven browser (docs/decisions/0035-live-view.md). */
export const browserViewContracts = {
  'browser.watch': defineMethod({
    params: z.strictObject({ ...tabTarget, ...imageOptions }),
    result: z.object({ watching: z.literal(true), profile: z.string(), tabId: z.string().nullable() }),
    emits: ['browser.frame', 'browser.downloaded', 'browser.unwatched'],
    docs: 'Streams the view of a tab to this connection as `browser.frame` events: JPEG images, up to five per second. Each frame must be confirmed with `browser.seen` before the next is sent; only the latest state is sent. Without `tabId`, follows the current tab; the result has null if there is none. The stream ends with the connection, with `browser.unwatch`, or when the tab or browser closes (`browser.unwatched`). Another call for the same profile replaces it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'browser.seen': defineMethod({
    params: z.strictObject({ profile, frame: z.number().int().positive() }),
    result: z.object({}),
    docs: 'Confirms a frame of `browser.watch` so that the next one is sent.',
    policy: { scope: 'read' },
  }),
  'browser.unwatch': defineMethod({
    params: z.strictObject({ profile }),
    result: z.object({ watching: z.literal(false) }),
    docs: 'Ends the stream that `browser.watch` started on this connection.',
    policy: { scope: 'read' },
  }),
  'browser.input': defineMethod({
    params: browserInput,
    result: z.object({ done: z.literal(true) }),
    docs: 'Sends mouse or keyboard input to the current tab, or to `tabId`. Types: `click` (`x`, `y`, `button`, `count`), `press` and `release` (as `click`; with `move` between them, they drag), `move` (`x`, `y`), `wheel` (`x`, `y`, `deltaX`, `deltaY`), `key` (`key`, such as `Enter` or `Control+A`) and `text`, which is inserted at the cursor. Not available to API keys and channels; use `browser.click` and `browser.type` there.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
