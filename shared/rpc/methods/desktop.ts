import { call } from '../contract.ts';
import { z } from '../zod.ts';

/** Which part of the desktop; all of the main display where nothing is named. */
export const desktopPart = {
  display: z.number().int().min(1).max(100).optional(),
  windowId: z
    .string()
    .regex(/^\d{1,20}$/, 'must be an id of desktop.windows')
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

/** The desktop of the bridge's machine (interface document 2, section 4.2). */
export const desktop = {
  'desktop.screenshot': call({
    params: z.strictObject(desktopPart),
    result: desktopPicture,
    docs: 'A picture of a display, or of one window, on the bridge’s machine: PNG in base64, made smaller where it had more than 6 MB. Under Wayland the desktop may ask its user.',
    policy: { scope: 'admin' },
  }),
  'desktop.windows': call({
    params: z.strictObject({}),
    result: desktopWindows,
    docs: 'The displays and windows that a picture can be taken of, the topmost window first.',
    policy: { scope: 'admin' },
  }),
};

export type DesktopPicture = z.infer<typeof desktopPicture>;
export type DesktopWindows = z.infer<typeof desktopWindows>;
