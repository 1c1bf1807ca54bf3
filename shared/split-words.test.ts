import { describe, expect, test } from 'vitest';
import { ShellRequiredError, splitWords } from './split-words.ts';

describe('splitWords', () => {
  test.each<[string, string[]]>([
    ['ls -la', ['ls', '-la']],
    ['  git   commit\t-m "two words"  ', ['git', 'commit', '-m', 'two words']],
    [`echo 'a $b * | "c"'`, ['echo', 'a $b * | "c"']],
    [`echo "it's" 'say "hi"'`, ['echo', "it's", 'say "hi"']],
    ['echo a"b c"d', ['echo', 'ab cd']],
    [`echo '' ""`, ['echo', '', '']],
    ['cat my\\ file.txt \\*', ['cat', 'my file.txt', '*']],
    ['echo "\\$5 \\"q\\" \\n"', ['echo', '$5 "q" \\n']],
    ['C:\\tools\\run.exe --in D:\\data', ['C:\\tools\\run.exe', '--in', 'D:\\data']],
    ['curl --data a=b#c user~1', ['curl', '--data', 'a=b#c', 'user~1']],
    ['uptime', ['uptime']],
    ['   ', []],
  ])('%j', (command, words) => expect(splitWords(command)).toEqual(words));

  test.each([
    ['ls | wc', '|'],
    ['a && b', '&'],
    ['a; b', ';'],
    ['a > out', '>'],
    ['a < in', '<'],
    ['(a)', '('],
    ['a\nb', 'A line break'],
    ['rm *.txt', '*'],
    ['ls ?', '?'],
    ['ls [ab]', '['],
    ['echo $HOME', '$'],
    ['echo "$HOME"', '$'],
    ['echo `id`', '`'],
    ['echo "`id`"', '`'],
    ['ls ~/x', '~'],
    ['ls #all', '#'],
  ])('%j needs a shell', (command, named) => {
    expect(() => splitWords(command)).toThrow(ShellRequiredError);
    expect(() => splitWords(command)).toThrow(`${named} is a `);
  });

  test('a quote that is not closed is refused', () => {
    expect(() => splitWords('echo "a')).toThrow('The command has a " that isn’t closed.');
    expect(() => splitWords("echo 'a")).toThrow("The command has a ' that isn’t closed.");
  });
});
