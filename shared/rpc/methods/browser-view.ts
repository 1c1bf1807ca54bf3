import { call } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

const profile = id.default('default');
const tabId = z
  .string()
  .max(100)
  .regex(/^tab-\d+$/, 'must be tab-1 or the like');
const side = z.number().int().min(100).max(4096);
/** Of the page, from the left upper corner of what is seen of it. */
const pixels = z.number().min(0).max(100_000);
const on = { profile, tabId: tabId.optional() };
const distance = z.number().min(-100_000).max(100_000);

export const viewSize = {
  /** What a picture has at the most, in pixels. */
  maxWidth: side.default(1280),
  maxHeight: side.default(800),
  /** Of the JPEG, in per cent. */
  quality: z.number().int().min(1).max(100).default(60),
};

/** A picture of a tab, as its viewer gets it. */
export const frame = {
  /** Its number: `browser.seen` says that it is here. */
  frame: z.number().int().positive(),
  tabId: z.string(),
  /** JPEG, base64. */
  data: z.string(),
  /** Of what is seen of the page, in its own pixels, by which `browser.input` counts; the picture may be smaller. */
  width: z.number().positive(),
  height: z.number().positive(),
};

/** What each kind of input wants, and what it may have beside. */
const INPUTS = {
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
    ...on,
    x: pixels.optional(),
    y: pixels.optional(),
    button: z.enum(['left', 'middle', 'right']).optional(),
    count: z.number().int().min(1).max(3).optional(),
    deltaX: distance.optional(),
    deltaY: distance.optional(),
    /** As a keyboard names it, with what is held down: `Enter`, `a`, `Control+A`. */
    key: z.string().min(1).max(100).optional(),
    text: z.string().min(1).max(10_000).optional(),
  })
  .superRefine((given, { addIssue }) => {
    const [wanted, allowed] = INPUTS[given.type];
    const has = Object.keys(given).filter((name) => Object.hasOwn(given, name) && !['type', 'profile', 'tabId'].includes(name));
    const known: readonly string[] = [...wanted, ...allowed];
    for (const name of wanted)
      if (given[name] === undefined) addIssue({ code: 'custom', path: [name], message: `is missing, which ${given.type} wants` });
    for (const name of has)
      if (!known.includes(name)) addIssue({ code: 'custom', path: [name], message: `is nothing that ${given.type} has` });
  });
export type BrowserInput = z.infer<typeof browserInput>;

/** The driven browser as a person sees it, and takes it over (docs/decisions/0035-live-view.md). */
export const browserView = {
  'browser.watch': call({
    params: z.strictObject({ ...on, ...viewSize }),
    result: z.object({ watching: z.literal(true), profile: z.string(), tabId: z.string().nullable() }),
    emits: ['browser.frame', 'browser.unwatched'],
    docs: 'Shows a tab as it changes, to this connection alone: each `browser.frame` is a JPEG, five a second at the most, and the next comes once `browser.seen` has said that the last is here; of what changes meanwhile only the newest is shown. Without `tabId` the current tab is shown, whichever that becomes; null where there is none. It ends with the connection, with `browser.unwatch`, and with the tab or browser, which `browser.unwatched` tells. Another call for the same profile takes its place.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'browser.seen': call({
    params: z.strictObject({ profile, frame: z.number().int().positive() }),
    result: z.object({}),
    docs: 'Says that a frame of `browser.watch` is here, and the next may come.',
    policy: { scope: 'read' },
  }),
  'browser.unwatch': call({
    params: z.strictObject({ profile }),
    result: z.object({ watching: z.literal(false) }),
    docs: 'Ends what `browser.watch` began on this connection.',
    policy: { scope: 'read' },
  }),
  'browser.input': call({
    params: browserInput,
    result: z.object({ done: z.literal(true) }),
    docs: 'What a person does with mouse and keyboard in the current tab, or in another one: `click` (`x`, `y`, `button`, `count`), `press` and `release` of a button (as `click`; with `move` between them it drags), `move` (`x`, `y`), `wheel` (`x`, `y`, `deltaX`, `deltaY`), `key` (`key`: `Enter`, `Control+A`), or `text`, which is written where the cursor is. For persons alone, not for API keys and channels: agents and programs have `browser.click` and `browser.type`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
