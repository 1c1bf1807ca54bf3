import type { FrameLocator, Locator, Page } from 'playwright';
import { replies } from './reply-fixture.ts';

export const pane = (page: Page): Locator => page.getByRole('dialog');
export const preview = (page: Page): Locator => replies(page).getByRole('button', { name: 'Preview' });
/** The document within the isolating frame. */
export const getArtifactFrame = (page: Page): FrameLocator => pane(page).frameLocator('iframe').frameLocator('iframe');
