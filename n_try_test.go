package thirdrail

import ("testing";"context";"time";"fmt")

func TestNurseryTry(t *testing.T) {
	rt, err := New(context.Background(), Config{Start: StartFork})
	if err != nil { t.Fatal(err) }
	for i := range 3 {
		b := time.Now()
		res, err := rt.Run(context.Background(), Request{Program: "import os\nprint(os.getpid(), os.getcwd(), os.listdir('/'))\nopen('x','w').write('1')\nreturn 1+1"})
		fmt.Println(i, time.Since(b), res, err, res.Failure)
	}
	if err := rt.Close(); err != nil { t.Fatal(err) }
}
