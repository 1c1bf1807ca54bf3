import { expect, it } from 'vitest';
import { type ChannelSetting, fieldOf, saidOfChannel, shownOf, storedOf } from './fields.ts';

const setting = (name: string, secret = false): ChannelSetting => ({ name, secret, required: false, meaning: '' });

it('stores what it shows, and takes out what is emptied', () => {
  const pairs: [ChannelSetting, unknown][] = [
    [setting('socialUsername'), 'perch'],
    [setting('monitorDMs'), true],
    [setting('pollIntervalSeconds'), 300],
    [setting('allowedUsers'), ['ana', 'ben']],
  ];
  for (const [each, value] of pairs) expect(storedOf(each, shownOf(each, { [each.name]: value }))).toEqual(value);
  expect(shownOf(setting('monitorMentions'), {})).toBe(true);
  expect([
    storedOf(setting('clientId'), ' '),
    storedOf(setting('allowedUsers'), ' \n'),
    storedOf(setting('pollIntervalSeconds'), null),
  ]).toEqual([null, null, null]);
  expect(storedOf(setting('allowedUsers'), '@ana\n\n ben ')).toEqual(['ana', 'ben']);
  expect(storedOf(setting('socialUsername'), ' @perch ')).toBe('perch');
});

it('shows no secret, and leaves one that is not written anew', () => {
  const token = setting('botToken', true);
  expect(shownOf(token, { botToken: '***' })).toBe('');
  expect(storedOf(token, '')).toBeUndefined();
  expect(storedOf(token, ' 1:a ')).toBe('1:a');
});

it('describes a setting in the app’s words, or in the gateway’s if it has none', () => {
  const meaning = 'Users who may send messages.';
  expect(fieldOf({ ...setting('allowedUsers'), meaning }).hint).toBe('Usernames or IDs.');
  expect(fieldOf({ ...setting('guilds'), meaning: 'Servers to reply on' }).hint).toBe('Servers to reply on.');
});

it('calls a setting as its field is called', () => {
  expect(saidOfChannel('channels.x.bearerToken is not a valid token.')).toBe('“Bearer token” is not a valid token.');
  expect(saidOfChannel('could not set it up: `channels.x.socialUsername` must not include the @.')).toBe(
    'could not set it up: “Account” must not include the @.',
  );
  expect(saidOfChannel('set channels.x, or channels.telegram.constructor')).toBe('set channels.x, or channels.telegram.constructor');
});
