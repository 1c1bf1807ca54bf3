import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

/** The part of the desktop to capture; the main display by default. */
export const captureArea = {
  display: z.number().int().min(1).max(100).optional(),
  windowId: z
    .string()
    .regex(/^\d{1,20}$/, 'must be a window id from desktop.windows')
    .optional(),
};

export const desktopPicture = z.object({
  screenshotB64: z.string(),
  mimeType: z.literal('image/png'),
  sizeBytes: z.number().int(),
  width: z.number().int(),
  height: z.number().int(),
});

export const desktopWindows = z.object({
  displays: z.array(
    z.object({ display: z.number().int(), name: z.string(), width: z.number().int(), height: z.number().int(), main: z.boolean() }),
  ),
  windows: z.array(
    z.object({ windowId: z.string(), title: z.string(), app: z.string(), width: z.number().int(), height: z.number().int() }),
  ),
});

/** Screenshots of the bridge's machine. */
export const desktopContracts = {
  'desktop.screenshot': defineMethod({
    params: z.strictObject(captureArea),
    result: desktopPicture,
    docs: 'Takes a screenshot of a display or a window on the bridge’s machine, as a base64-encoded PNG. Images over 6 MB are scaled down. On Wayland, the desktop may ask the user for permission.',
    policy: { scope: 'admin' },
  }),
  'desktop.windows': defineMethod({
    params: z.strictObject({}),
    result: desktopWindows,
    docs: 'Lists the displays and windows that a screenshot can be taken of, topmost window first.',
    policy: { scope: 'admin' },
  }),
};

export type DesktopPicture = z.infer<typeof desktopPicture>;
export type DesktopWindows = z.infer<typeof desktopWindows>;
