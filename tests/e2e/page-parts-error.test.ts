import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';

verifies(
  'app/page-parts',
  'if the code for messages fails to load, the page says so, keeps sent messages, and shows all on Retry',
  async () => {
    await using perch = await startPerch();
    await using browser = await launchBrowser();
    const page = await browser.page();
    // A service worker would have kept the script before the page asks for it.
    await page.addInitScript(() => {
      navigator.serviceWorker.register = () => Promise.reject(new Error('there is none'));
    });
    let cut = true;
    const interceptedPaths: string[] = [];
    // Known by a name that no other script has.
    await browser.context.route('**/*.js', async (route) => {
      const response = await route.fetch();
      const list = (await response.text()).includes('data-versions');
      if (list) interceptedPaths.push(route.request().url());
      await (list && cut ? route.abort() : route.fulfill({ response }));
    });
    await page.goto(await perch.open());
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.fill('What can you do?');
    await composer.press('Enter');
    const alert = page.getByRole('alert').filter({ hasText: 'Couldn’t load the messages.' });
    await alert.waitFor();
    expect(interceptedPaths.length).toBeGreaterThan(0);
    cut = false;
    await alert.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('region', { name: 'Messages' }).getByText('What can you do?').waitFor();
    await page.getByRole('article', { name: 'Reply' }).first().waitFor();
    await browser.context.unrouteAll({ behavior: 'ignoreErrors' });
  },
);
