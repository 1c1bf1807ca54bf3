import { chosenSection, specifiedSection } from './requirement.ts';

/** The commands that talk with a running gateway. */
export const cli = [
  specifiedSection('interface 2, section 4.1', {
    'cli.status/row': '`gateway status` tells of the service and, unless `--no-probe`, of the gateway; `--deep` tells more.',
    'cli.probe/row': '`gateway probe` tells step by step whether a gateway can be reached.',
    'cli.call/row': '`gateway call METHOD --params` calls any method.',
  }),
  chosenSection('decisions, "Command line"', {
    'cli/json': '`--json` prints the decided shapes of `status` and `probe`, and what a method answers.',
    'cli/timeouts': 'A gateway that does not answer is given up after `--timeout`, else after the time decided for the command.',
    'cli/url-credential':
      'A stored credential (file or environment) is only sent to a loopback address; for any other host the line must give one, else it is wrong usage. No redirect is followed.',
    'cli/colour': 'Colours only on a terminal, and not with NO_COLOR; tables are cut to its width.',
    'cli/escape':
      'Control and bidi characters in text of others are escaped, also in a pipe, unless `--raw` is given. In JSON the value stays the same.',
    'cli/progress': 'Progress is one line that is drawn anew, no wider than the terminal; where there is no terminal, there is none.',
    'cli/no-host': 'Where the bridge runs without a host, commands say so and how to get one.',
    'cli/arguments': 'Whatever the arguments: exit 0, 1 or 2, one line on standard error where it fails, never a stack.',
    'cli/logs': '`perch logs` prints the log’s lines, of a level where asked, and with `-f` those that come, each once.',
    'cli/import':
      '`perch import` imports chats, memories, skills and notes of other products once, says what came and what was left out, and writes nothing of a file that it cannot read.',
    'cli/sessions': '`perch sessions` lists sessions, the newest first, and `sessions export` writes one.',
    'cli/chat': '`perch chat` sends a message from argument or pipe and prints the reply as it comes.',
    'cli/chat-terminal':
      'On a terminal it goes on asking; Ctrl+C ends the reply under way, twice or Ctrl+D the chat; approvals are asked in place.',
    'cli/gateway-options': 'Every command that talks to a gateway takes `--url`, `--port`, `--token`, `--password` and `--timeout`.',
    'cli/old-node': 'The `perch` command of the package says in one line that a Node is too old, on any Node.',
    'cli/help': 'Every command prints help of its own arguments and options.',
    'cli/completion': 'bash, zsh and fish complete every command, option and choice there is.',
  }),
];
