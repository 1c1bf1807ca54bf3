import { expect } from 'vitest';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { verifies } from '../../../../tests/requirements.ts';

verifies('injection/imports', 'pages and files imported as outside content await review; a refused page keeps its text', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  const labels = async () => (await client.call('review.list', {})).items.map(({ id, sources }) => [id, sources]).sort();
  const outside = ['web:x.test'];
  await client.call('wiki.savePage', { path: 'Clipped', content: 'From the web.', version: null, outside });
  await client.call('workspace.write', { path: 'skills/tea/SKILL.md', content: 'Boil.', outside: ['import:OpenClaw'] });
  await client.call('wiki.savePage', { path: 'Mine', content: 'I wrote this.' });
  await expect(client.call('wiki.savePage', { path: 'Mine', content: 'Other.', version: null, outside })).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
  });
  const expected = [
    ['file:main/skills/tea/SKILL.md', ['import:OpenClaw']],
    ['file:main/wiki/Clipped.md', outside],
  ];
  expect(await labels()).toEqual(expected);
  await expect(client.call('wiki.savePage', { path: 'Clipped', content: 'Again.', version: null, outside })).rejects.toThrow();
  expect(await labels()).toEqual(expected);
  // The owner's own text needs no review.
  await client.call('workspace.write', { path: 'skills/tea/SKILL.md', content: 'Boil twice.' });
  expect(await labels()).toEqual(expected.slice(1));
});
