import type { Page } from 'playwright';

/** Opens a section of the settings from the sidebar, and one of its tabs. */
export async function openSettings(page: Page, section: string, tab?: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: section, exact: true }).click();
  if (tab !== undefined) await page.getByRole('navigation', { name: section }).getByRole('link', { name: tab, exact: true }).click();
}

/** Opens a destination of the sidebar, and one of its tabs. */
export async function openDestination(page: Page, destination: string, tab?: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Chats' })
    .getByRole('link', { name: new RegExp(`^${destination}`) })
    .click();
  if (tab === undefined) return;
  // Behind the name stands how many approvals are pending.
  await page
    .getByRole('navigation', { name: destination })
    .getByRole('link', { name: new RegExp(`^${tab}( |$)`) })
    .click();
}
