import { chosenSection, specifiedSection } from './requirement.ts';

export const channels = [
  specifiedSection('interface 1, sections 2.2 and 4.1', {
    'channels/list':
      '`channels.list` merges channels that are connected with those that are only configured, with the fields of section 2.2.',
    'channels/status': '`channels.status` answers for one channel, by `channelId` or, as in section 4.2, `channel_id`.',
  }),
  specifiedSection('interface 1, section 4.2', {
    'channels/earlier': 'At protocol 2 `channels.list` is an array of `{id, type, status}`.',
  }),
  specifiedSection('interface 2, section 2.2', {
    'channels/social': 'The social channel’s settings have the types, defaults and least interval of section 2.2.',
  }),
  chosenSection('decisions, "Sessions, agents, models, channels, config"', {
    'channels/webchat': '`webchat` is always a channel at run time, with metrics.',
    'channels/catalog': '`channels.catalog` has all that could be configured, and says which can be started here.',
    'channels/secrets': 'Tokens of channels are kept apart from the configuration and read as `***`.',
  }),
  chosenSection('issue "Channels"', {
    'channels/telegram':
      'Telegram, by long polling: a message runs an agent in a session of its own, the answer goes back in messages of at most 4096 characters, in groups when it is spoken to.',
    'channels/telegram-words': 'On Telegram `/start` greets, `/new` begins a new conversation, `/stop` ends an answer that is under way.',
    'channels/metrics': 'The metrics of a channel count what came, was answered and failed, and lie in the vault.',
    'channels/no-tools': 'Runs from a channel get no tools but those that `channels.<id>.tools` names.',
    'channels/guide': 'For channels the guide runs no tool, and quotes no memory and no chat.',
    'channels/allow-list': 'Only those whom `allowedUsers` names, by name or id, are heard; an empty list: everyone.',
    'channels/strangers': 'If `allowedUsers` was never set, an unknown sender gets a pairing code, and no model gets the text.',
    'channels/code': 'A code lets in the sender that got it, once, within an hour, if a person confirms it.',
    'channels/code-limits': 'A sender has one code at a time, a channel at most 20, and wrong codes are limited.',
    'channels/sender-removed': 'A sender that was let in can be removed, and is not answered from then on, waiting messages included.',
    'cli.channels/row': '`perch channels` lists senders, lets them in by their code and removes them.',
    'channels/owner-accounts':
      'What accounts in `owners` write is the owner’s word; what they forward from others is content from outside.',
    'channels/groups': '`groups` and `rooms` say which messages of which groups are answered; only mentions by default.',
    'channels/edits': 'An edit replaces a message that waits; of the answered ones only the last is answered again.',
    'channels/reactions': 'With `reactions`, a message shows a reaction while it is answered.',
    'channels/sender-limits': 'A sender over `limits` is asked once to wait, and answered again later; owners have no limit.',
    'channels/matrix':
      'Matrix, by long polling, without a bridge: messages are answered with their formatting; encrypted chats are told why not.',
    'channels/matrix-groups': 'Matrix: in groups mentions and replies are answered, in threads each as a conversation of its own.',
    'channels/matrix-invites': 'Matrix: invitations of people who may write are accepted; strangers may only open a private chat.',
    'channels/matrix-once': 'Matrix: whatever is lost, repeated, refused or left out, each message is answered once.',
    'channels/matrix-files': 'Matrix: pictures and documents reach the agent, and files of answers go out.',
    'channels/matrix-errors': 'Matrix: a wrong token, a missing address and a limit are told in the status.',
    'channels/nostr':
      'Nostr, by relays, without a bridge: private messages are answered, encrypted, and in groups if they mention the account.',
    'channels/nostr-relays':
      'Nostr: relays that repeat, refuse, want authentication or break off: each message is answered once, with a proof of a relay.',
    'channels/nostr-forged': 'Nostr: messages that their sender did not seal, and events that are not signed, are ignored.',
    'channels/discord':
      'Discord: private messages, mentions and replies are answered, each thread by itself; buttons tell who pressed them.',
    'channels/discord-once': 'Discord: sessions go on after cuts, and what a lost one missed is fetched; each message is answered once.',
    'channels/discord-files': 'Discord: files of messages reach the agent, and files of answers go out.',
    'channels/discord-errors': 'Discord: a wrong token and a missing permission are told in the status.',
    'channels/slack':
      'Slack, by socket mode: private messages are answered, mentions in threads; answers keep their formatting and notify nobody by name.',
    'channels/slack-once':
      'Slack: whatever is lost, repeated, limited or missed, each message is answered once; envelopes are acknowledged once they are stored.',
    'channels/slack-errors': 'Slack: wrong, revoked and missing tokens, missing scopes and socket mode that is off are told in the status.',
    'channels/slack-files': 'Slack: files come and go; the token is sent to Slack only.',
    'channels/ntfy': 'ntfy, without a bridge: messages of a topic are answered in another one, with files.',
    'channels/ntfy-once': 'ntfy: lost responses, limits and cuts: each message is answered once, and posts are proved by the response.',
    'channels/ntfy-errors': 'ntfy: a wrong token, a missing topic and the same one twice are told in the status.',
    'channels/whatsapp': 'WhatsApp: messages come by a signed webhook, which is answered once they are stored; files come and go.',
    'channels/whatsapp-once': 'WhatsApp: repeats are answered once; a lost response is settled by the receipt that names the piece.',
    'channels/whatsapp-errors': 'WhatsApp: wrong tokens and signatures, limits, and the end of the 24 hours are told.',
    'channels/irc':
      'IRC, through the bridge: private messages are answered, in channels mentions, line by line; an echo proves what was sent.',
    'channels/irc-accounts':
      'IRC: only accounts that the network’s services vouch for are let in or count as the owner’s; a nickname proves nothing.',
    'channels/irc-approvals': 'IRC: the owner decides approvals by a code, in private and signed in.',
    'channels/irc-once': 'IRC: cuts, netsplits and repeats: no message is answered twice, and no doubtful line is sent again.',
    'channels/irc-errors': 'IRC: wrong passwords, taken nicknames, closed channels, bans and floods are told in the status.',
    'channels/signal': 'Signal, by signal-cli: private messages are answered, in groups mentions and replies; files, edits and receipts.',
    'channels/signal-once': 'Signal: cuts, limits and lost responses: no message is answered twice.',
    'channels/signal-errors': 'Signal: a missing daemon, a wrong number and unknown recipients are told.',
    'channels/deleted': 'A message that was deleted while it waits is not answered.',
    'channels/email':
      'E-mail, by IMAP and SMTP through the bridge: mails are answered in their threads, each thread and sender as a conversation.',
    'channels/email-senders':
      'E-mail: only mails whose sender the receiving server has verified are answered; others and unknown senders are ignored and counted.',
    'channels/email-owner': 'E-mail: only the owner’s own words, verified by a server that the settings name, count as the owner’s.',
    'channels/email-loops': 'E-mail: programs, lists, returned mails and the account itself get no answer.',
    'channels/email-once':
      'E-mail: lost connections, new UIDs and restarts: no mail is answered twice, and none that may have been sent is sent again.',
    'channels/email-errors': 'E-mail: a wrong password, a missing folder and missing checks of senders are told in the status.',
    'channels/everyone': 'An empty `allowedUsers` allows everyone; Doctor warns, and the owner is asked about it once.',
    'channels/errors':
      'Nonsense, cut connections, 5xx, endless bodies: `channels.status` says `error` with the problem, and the channel comes back by itself.',
    'channels/rate-limit': 'After a 429 a platform is left alone until it says, and the status tells when.',
    'channels/files': 'Pictures, recordings and documents of a message reach the agent, and the reply names those that could not be read.',
    'channels/voice': 'A voice message is answered by text and voice.',
    'channels/once': 'No message is answered twice and none is lost, whatever the platform repeats or breaks off.',
    'channels/one-executor': 'One host runs a channel; a hand-over, a death and a restart lose no message and answer none twice.',
    'channels/doctor': 'The doctor tells of channels that are switched on and in error, or that do not run or are not connected yet.',
    'channels/token': 'A token that stands in addresses appears in no log, error or status.',
    'channels/switched':
      '`channels.start` and `channels.stop` switch a channel; without bridge or token the status says so; tokens stay with their server.',
    'channels/x-mentions':
      'X: mentions behind the last one are answered, each in its thread, by the account’s authorization or a token that may post.',
    'channels/x-direct': 'X: direct messages are answered to whoever wrote, in a session apart from their mentions.',
    'channels/budget':
      'The month’s searches are metered and shown, spread over what is left of the month, never closer than the interval, and end at the limit with a problem.',
    'channels/reply-weight': 'Answers on X are posts of at most 280 weighted characters, a numbered thread where there are several.',
    'channels/oauth':
      '`channels.authorize` begins OAuth 2.0 with PKCE for a person; tokens are renewed once with rotation, and shown nowhere.',
  }),
];
