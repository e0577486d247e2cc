import LarderCommand

@main
struct LarderTool {
    static func main() async {
        await LarderCommand.main()
    }
}
