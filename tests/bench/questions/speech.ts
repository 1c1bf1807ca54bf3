/** Names of a language's speakers, and sentences around their news. */
export interface Speech {
  names: readonly string[];
  openers: readonly string[];
  closers: readonly string[];
  replies: readonly string[];
  whens: readonly { phrase: string; daysAgo: number }[];
}

export const SPEECH: Readonly<Record<'en' | 'de' | 'ja', Speech>> = {
  en: {
    names: [
      ...['Adela', 'Marcus', 'Beatrix', 'Joran', 'Camille', 'Desmond', 'Elodie', 'Farid', 'Greta', 'Henrik'],
      ...['Isolde', 'Kwame', 'Linnea', 'Mateo', 'Nadia', 'Oswin', 'Petra', 'Quentin', 'Rosalind', 'Sanjay'],
      ...['Tabitha', 'Ulrich', 'Verity', 'Wilhelm', 'Xenia', 'Yannick', 'Zelda', 'Amos', 'Bronwen', 'Cyrus'],
      ...['Dorothea', 'Emeka', 'Fiona', 'Gideon', 'Hanako', 'Ivo', 'Jocelyn', 'Kasper', 'Leonie', 'Milo'],
    ],
    openers: [
      'Oh, and ',
      'By the way: ',
      'Right. ',
      'So, ',
      'News from here. ',
      'Before I forget: ',
      'You will like this. ',
      'Where was I? ',
    ],
    closers: [
      ' Anyway, enough of me.',
      ' And how are things with you?',
      ' I still cannot believe it.',
      ' You can imagine the rest.',
      ' Life goes on.',
      ' Tell nobody.',
    ],
    replies: [
      'No way!',
      'That is so you.',
      'And then? Do not leave me hanging.',
      'I am honestly happy for you.',
      'Ha, I can picture it.',
      'Oh dear. Are you all right?',
      'You should write a column.',
      'I would have done exactly the same.',
      'Hm, I am not so sure about that one.',
      'My week was nothing compared with yours.',
      'Good for you!',
      'Did you take a picture?',
    ],
    whens: [
      { phrase: 'yesterday', daysAgo: 1 },
      { phrase: 'three days ago', daysAgo: 3 },
      { phrase: 'last week', daysAgo: 7 },
      { phrase: 'two weeks ago', daysAgo: 14 },
      { phrase: 'the day before yesterday', daysAgo: 2 },
      { phrase: 'last weekend', daysAgo: 5 },
      { phrase: 'a month ago', daysAgo: 30 },
      { phrase: 'this morning', daysAgo: 0 },
    ],
  },
  de: {
    names: ['Annika', 'Bernd', 'Clara', 'Detlef', 'Edith', 'Falk', 'Gesine', 'Holger'],
    openers: ['Ach, übrigens: ', 'Also, ', 'Neues von hier. ', 'Ehe ich es vergesse: '],
    closers: [' Aber genug von mir.', ' Und bei euch?', ' Ich fasse es noch nicht.', ' Den Rest kannst du dir denken.'],
    replies: [
      'Nein!',
      'Das sieht dir ähnlich.',
      'Und dann?',
      'Das freut mich sehr für dich.',
      'Oje, geht es dir gut?',
      'Hast du ein Bild?',
      'Gut so!',
    ],
    whens: [{ phrase: 'gestern', daysAgo: 1 }],
  },
  ja: {
    names: ['葵', '健司', '美咲', '大輔', '陽子', '拓也', '由美', '直樹'],
    openers: ['そういえば、', 'ところで、', 'それから、'],
    closers: ['本当ですよ。', 'そちらはどうですか。', '信じられません。'],
    replies: [
      'すごいですね。',
      'それはあなたらしいです。',
      'それで、どうなりましたか。',
      '大丈夫ですか。',
      'よかったですね。',
      '写真はありますか。',
    ],
    whens: [{ phrase: '昨日', daysAgo: 1 }],
  },
};
