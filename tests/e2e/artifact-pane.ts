import type { FrameLocator, Locator, Page } from 'playwright';
import { replies } from './answered.ts';

export const pane = (page: Page): Locator => page.getByRole('dialog');
export const preview = (page: Page): Locator => replies(page).getByRole('button', { name: 'Preview' });
/** The document within the isolating frame. */
export const inside = (page: Page): FrameLocator => pane(page).frameLocator('iframe').frameLocator('iframe');
