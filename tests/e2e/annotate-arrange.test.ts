import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { listControls } from './accessibility.ts';
import { waitForConnection, openLinkedPage } from './connection-status.ts';
import { useGatewayAndBrowser } from './gateway-and-browser.ts';
import { chooseTool, drag, isToolChosen } from './annotate-page.ts';
import { takeScreenshots } from './take-screenshots.ts';

describe('arranging on the Annotate page', () => {
  const at = useGatewayAndBrowser();

  verifies('annotate/arrange', 'by buttons: aligned, turned, brought to the back, doubled and taken away', async () => {
    const page = await openLinkedPage(at.browser, at.perch);
    await page.goto(`${at.perch.url}/annotate`);
    await waitForConnection(page, 'This browser');
    await page.getByRole('button', { name: 'Blank canvas' }).click();
    const canvas = page.getByRole('application', { name: 'Drawing' });
    for (const [tool, from] of [
      ['Rectangle', 0.3],
      ['Ellipse', 0.5],
    ] as const) {
      await chooseTool(page, tool);
      await drag(page, [from, from], [from + 0.1, from + 0.1]);
    }
    await page.getByRole('button', { name: 'Layers and notes' }).click();
    const layers = page.getByRole('list', { name: 'Layers, top to bottom' }).getByRole('listitem');
    await waitFor(async () => (await layers.count()) === 2, 'both shapes');
    // A tool that has the focus lets the keys for others through.
    await page.getByRole('button', { name: 'Ellipse', exact: true }).first().focus();
    await page.keyboard.press('v');
    await waitFor(() => isToolChosen(page, 'Select'), 'the tool of the key');
    await canvas.focus();
    await page.keyboard.press('Control+a');

    const arrange = page.getByRole('button', { name: 'Arrange 2 shapes' });
    await arrange.click();
    const tasks = page.getByRole('dialog', { name: 'Arrange 2 shapes' });
    expect((await listControls(page)).filter((each) => each.endsWith(' ""'))).toEqual([]);
    expect(await tasks.getByRole('button', { name: 'Distribute horizontally' }).count()).toBe(0);
    for (const [name, at] of [
      ['Constrain', 'false'],
      ['Snap', 'true'],
    ] as const) {
      const toggle = tasks.getByRole('button', { name, exact: true });
      expect(await toggle.getAttribute('aria-pressed')).toBe(at);
      await toggle.click();
      await tasks.getByRole('button', { name, exact: true, pressed: at === 'false' }).click();
    }
    await takeScreenshots(page, 'arrange');
    await tasks.getByRole('button', { name: 'Align left' }).click();
    await page.getByText('Done: Align left').waitFor({ state: 'attached' });
    await tasks.getByRole('button', { name: 'Rotate right' }).click();
    await page.getByText('Rotated by 90°').waitFor({ state: 'attached' });
    await tasks.getByRole('button', { name: 'Duplicate' }).click();
    await waitFor(async () => (await layers.count()) === 4, 'the doubles');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await waitFor(async () => (await layers.count()) === 2, 'the doubles to be gone');
    await page.getByRole('button', { name: 'Rotate or flip the drawing' }).waitFor();
    expect(at.browser.complaints).toEqual([]);
    await page.close();
  });
});
