import { expect, it } from 'vitest';
import { type ChannelSetting, getChannelField, toFieldLabels, toFieldValue, toStoredValue } from './channel-fields.ts';

const setting = (name: string, secret = false): ChannelSetting => ({ name, secret, required: false, meaning: '' });

it('stores what it shows, and takes out what is emptied', () => {
  const pairs: [ChannelSetting, unknown][] = [
    [setting('socialUsername'), 'perch'],
    [setting('monitorDMs'), true],
    [setting('pollIntervalSeconds'), 300],
    [setting('allowedUsers'), ['ana', 'ben']],
  ];
  for (const [each, value] of pairs) expect(toStoredValue(each, toFieldValue(each, { [each.name]: value }))).toEqual(value);
  expect(toFieldValue(setting('monitorMentions'), {})).toBe(true);
  expect([
    toStoredValue(setting('clientId'), ' '),
    toStoredValue(setting('allowedUsers'), ' \n'),
    toStoredValue(setting('pollIntervalSeconds'), null),
  ]).toEqual([null, null, null]);
  expect(toStoredValue(setting('allowedUsers'), '@ana\n\n ben ')).toEqual(['ana', 'ben']);
  expect(toStoredValue(setting('socialUsername'), ' @perch ')).toBe('perch');
});

it('shows no secret, and leaves one that is not written anew', () => {
  const token = setting('botToken', true);
  expect(toFieldValue(token, { botToken: '***' })).toBe('');
  expect(toStoredValue(token, '')).toBeUndefined();
  expect(toStoredValue(token, ' 1:a ')).toBe('1:a');
});

it('describes a setting in the app’s words, or in the gateway’s if it has none', () => {
  const meaning = 'Users who may send messages.';
  expect(getChannelField({ ...setting('allowedUsers'), meaning }).hint).toBe('Usernames, addresses or IDs.');
  expect(getChannelField({ ...setting('guilds'), meaning: 'Servers to reply on' }).hint).toBe('Servers to reply on.');
});

it('calls a setting as its field is called', () => {
  expect(toFieldLabels('channels.x.bearerToken is not a valid token.')).toBe('“Bearer token” is not a valid token.');
  expect(toFieldLabels('could not set it up: `channels.x.socialUsername` must not include the @.')).toBe(
    'could not set it up: “Account” must not include the @.',
  );
  expect(toFieldLabels('set channels.x, or channels.telegram.constructor')).toBe('set channels.x, or channels.telegram.constructor');
});
